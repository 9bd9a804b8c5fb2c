import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type BadInputFixture, badInputFixture } from './bad-input-fixture.ts';
import { GOOD_NAMES } from './names.ts';

let shared: BadInputFixture;

beforeAll(async () => {
  shared = await badInputFixture();
  await shared.litterbox.create({ name: 'ready' });
});
afterAll(async () => await shared[Symbol.asyncDispose]());

/** Files that are taken, and what is said of them. */
const FILES: readonly (readonly [title: string, content: string | Uint8Array, ...warnings: readonly string[]])[] = [
  ['B03: a byte order mark', '\ufeff[limits]\ncpus = 1\n'],
  ['B03: line ends of Windows', '[limits]\r\ncpus = 1\r\n'],
  [
    'B06: a key that nothing knows',
    '[container]\nbase_image = "x"\n',
    'container.base_image is not known and has no effect (did you mean container.base-image?)',
  ],
  [
    'B06: a key that nothing knows',
    '[limits]\npids = 5\n[nope]\nx = 1\n',
    'did you mean limits.processes?',
    'nope is not known',
  ],
];

describe('taken, and said what became of it', () => {
  test.each(GOOD_NAMES)('%s: %j is %s', async (_, name, slug) => {
    const { created, name: taken } = await shared.litterbox.create({ name });
    // oxlint-disable-next-line no-control-regex
    expect({ taken, isRenamed: created.isRenamed }).toEqual({
      taken: slug,
      isRenamed: /[^\u0000-\u007f]/.test(name.normalize('NFKC')),
    });
    await shared.litterbox.delete(slug);
    const { code, stdout, stderr } = await shared.say({ args: ['create', '--', name] });
    expect({ code, stdout, stderrIncludes: stderr.includes(`The name became ${slug}`) }).toEqual({
      code: 0,
      stdout: `${slug}\n`,
      stderrIncludes: created.isRenamed,
    });
    expect(await shared.say({ args: ['delete', name] })).toMatchObject({ code: 0 });
  });

  test.each(FILES)('%s: %j', async (_, content, ...warnings) => {
    shared.scratch.file('.litterbox.toml', content);
    try {
      const { created } = await shared.litterbox.create({ name: 'new' });
      expect(created.warnings).toHaveLength(warnings.length);
      for (const [index, warning] of warnings.entries()) expect(created.warnings[index]).toContain(warning);
      await shared.litterbox.delete('new');
    } finally {
      rmSync(join(shared.scratch.repository, '.litterbox.toml'));
    }
  });

  test('B10: a setup command that is a text is for the shell, once somebody agreed; B24: and is asked about anew when it changed', async () => {
    const file = (text: string) => shared.scratch.file('.litterbox.toml', `[container]\nsetup-command = "${text}"\n`);
    try {
      file('echo one >setup.txt');
      await shared.litterbox.trust((await shared.litterbox.trustStatus()).contentHash);
      const sandbox = await shared.litterbox.create({ name: 'new' });
      expect((await sandbox.run('cat setup.txt')).stdout).toBe('one\n');
      await shared.litterbox.delete('new', { force: true });
      file('echo two >setup.txt');
      await expect(shared.litterbox.create({ name: 'new' })).rejects.toMatchObject({
        code: 'CONFIG_UNTRUSTED',
        message: expect.stringContaining('since it changed'),
        details: {
          hint: expect.stringContaining('trust()'),
          facts: { wants: [expect.stringContaining('two')] },
        },
      });
    } finally {
      rmSync(join(shared.scratch.repository, '.litterbox.toml'));
    }
  });

  test('B18: rules in their normal form, with a notice; B74: state directories that are not there are made', async () => {
    shared.scratch.file('.litterbox.toml', '[network]\nallow = ["EXAMPLE.com."]\n');
    try {
      const { warnings } = await shared.litterbox.trustStatus();
      expect(warnings).toEqual([expect.stringContaining('"EXAMPLE.com." is read as example.com')]);
    } finally {
      rmSync(join(shared.scratch.repository, '.litterbox.toml'));
    }
    const home = join(shared.scratch.directory, 'not/yet/there');
    expect(await shared.say({ args: ['list', '--json'], environment: { LITTERBOX_HOME: home } })).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  test('B50: a milestone of nothing makes no commit; B72: pausing twice and a diff of nothing are no errors', async () => {
    expect(await shared.litterbox.milestone('ready', 'nothing')).toBeUndefined();
    expect(await shared.say({ args: ['milestone', 'ready', 'nothing'] })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Nothing was recorded since the last milestone.\n',
    });
    expect(await shared.say({ args: ['diff', 'ready'] })).toEqual({ code: 0, stdout: '', stderr: '' });
    for (const stderr of ['ready is paused.\n', 'ready is already paused.\n'])
      expect(await shared.say({ args: ['pause', 'ready'] })).toEqual({ code: 0, stdout: '', stderr });
    for (const stderr of ['ready is ready.\n', 'ready is already ready.\n'])
      expect(await shared.say({ args: ['resume', 'ready'] })).toEqual({ code: 0, stdout: '', stderr });
  });

  test('B67: without a verb the help is shown, exit status 2', async () => {
    expect(await shared.say({ args: [] })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Usage: litterbox /),
    });
    const json = await shared.say({ args: ['--json'] });
    expect([json.code, JSON.parse(json.stderr)]).toMatchObject([2, { error: { code: 'ARG_MISSING' } }]);
  });
});
