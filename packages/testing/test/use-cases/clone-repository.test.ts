import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { type Program } from '@litterbox/memory';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const url = 'https://example.org/some/tool.git';
let disposed = 0;

/** A network of one repository. */
const network = (more: object = {}): NonNullable<UseCaseFixtureOptions['sourceControl']> => ({
  fetch: async (wanted) => ({
    url: wanted,
    async *bundle() {
      yield new TextEncoder().encode('bundle ');
      yield new TextEncoder().encode('of it');
    },
    async [Symbol.asyncDispose]() {
      disposed += 1;
    },
  }),
  ...more,
});

/** A git that clones a bundle into a file, and knows one commit. */
const git: Program = async (process, args) => {
  const { files } = process.machine;
  if (args.includes('clone')) {
    const [bundle = '', path = ''] = args.slice(-2);
    files.makeDirectory(path, true);
    files.write(`${path}/content`, files.read(bundle));
  }
  if (args.includes('rev-parse')) await process.write(1, `${'c'.repeat(40)}\n`);
  return 0;
};

test('a clone goes to the playground, by the git of the sandbox, and the bundle does not stay', async () => {
  await using fixture = useCaseFixture({ programs: { git }, sourceControl: network() });
  await made(fixture);
  const before = disposed;
  const steps: string[] = [];
  const cloned = await fixture.cloneRepository.clone(
    { sandbox: 'a', url },
    { onProgress: ({ step }) => steps.push(step) },
  );
  expect(cloned).toEqual({ url, path: '/playground/tool', head: 'c'.repeat(40) });
  expect(steps).toEqual(['fetch', 'unpack']);
  expect(disposed).toBe(before + 1);
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'cat "$LITTERBOX_PLAYGROUND/tool/content"; ls -A "$LITTERBOX_PLAYGROUND"',
  });
  expect(Buffer.from(stdout.bytes).toString()).toBe('bundle of ittool\n');
  expect(await fixture.audited()).toContain('sandbox-clone: ok');
});

test('a destination outside of the playground is PATH_OUTSIDE_WORKDIR, and nothing is fetched', async () => {
  const fetch = () => Promise.reject(new Error('fetched'));
  await using fixture = useCaseFixture({ programs: { git }, sourceControl: network({ fetch }) });
  await made(fixture);
  const cloning = fixture.cloneRepository.clone({ sandbox: 'a', url, destination: '/src/tool' });
  await expect(cloning).rejects.toMatchObject({ code: 'PATH_OUTSIDE_WORKDIR' });
});

test('something at the destination is ALREADY_EXISTS, and stays', async () => {
  await using fixture = useCaseFixture({ programs: { git }, sourceControl: network() });
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo mine >"$LITTERBOX_PLAYGROUND/tool"' });
  await expect(fixture.cloneRepository.clone({ sandbox: 'a', url })).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
});

test('a sandbox without git, and a source control that cannot fetch, are UNSUPPORTED', async () => {
  await using fixture = useCaseFixture({ sourceControl: network() });
  await made(fixture);
  await expect(fixture.cloneRepository.clone({ sandbox: 'a', url })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: 'There is no git in the sandbox.',
  });
  await using other = useCaseFixture({ programs: { git } });
  await made(other);
  await expect(other.cloneRepository.clone({ sandbox: 'a', url })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});

test('what the network refuses is told as it is, and audited', async () => {
  const refused = new LitterboxError('UNAVAILABLE', 'no', { operation: 'test' });
  const sourceControl = network({ fetch: () => Promise.reject(refused) });
  await using fixture = useCaseFixture({ programs: { git }, sourceControl });
  await made(fixture);
  await expect(fixture.cloneRepository.clone({ sandbox: 'a', url })).rejects.toBe(refused);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-clone: error');
});

test('a bundle that git does not take is SNAPSHOT_FAILED, and leaves nothing', async () => {
  const broken: Program = async (process) => {
    await process.write(2, 'not a bundle\n');
    return 128;
  };
  await using fixture = useCaseFixture({ programs: { git: broken }, sourceControl: network() });
  await made(fixture);
  await expect(fixture.cloneRepository.clone({ sandbox: 'a', url })).rejects.toMatchObject({
    code: 'SNAPSHOT_FAILED',
    message: expect.stringContaining('not a bundle'),
  });
  const { stdout } = await fixture.runCommand.run({ sandbox: 'a', command: 'ls -A "$LITTERBOX_PLAYGROUND"' });
  expect(Buffer.from(stdout.bytes).toString()).toBe('');
});

test('a clone is read by the git of the sandbox, with words that are no options', async () => {
  const said: string[] = [];
  const reader: Program = async (process, args) => {
    said.push(args.join(' '));
    await process.write(1, 'text\n');
    return args.includes('diff') ? 128 : 0;
  };
  await using fixture = useCaseFixture({ programs: { git: reader } });
  await made(fixture);
  const read = (more: object) =>
    fixture.readClone.read({ sandbox: 'a', action: 'log', path: '/playground/tool', limit: 5, ...more });
  expect(await read({})).toBe('text\n');
  expect(said[0]).toMatch(/^--no-pager -C \/playground\/tool log .* -n5 HEAD --$/);
  await expect(read({ revision: '--output=x' })).rejects.toMatchObject({ code: 'REV_INVALID' });
  await expect(read({ path: '/src' })).rejects.toMatchObject({ code: 'PATH_OUTSIDE_WORKDIR' });
  await expect(read({ action: 'diff' })).rejects.toMatchObject({ code: 'NOT_A_REPO' });
});
