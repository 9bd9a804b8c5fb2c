// The person's own git: configuration, hooks, environment, arguments, and what agents write for it to read.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { git } from '@litterbox/source-control-git';
import { type AttackFixture, onTheHost, positiveControl, yesTo } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

/** Everything in git's configuration that names a program. */
const EXECUTABLE_KEYS = [
  'core.fsmonitor',
  'core.pager',
  'core.editor',
  'core.sshCommand',
  'core.alternateRefsCommand',
  'core.askPass',
  'diff.external',
  'diff.x.textconv',
  'diff.x.command',
  'filter.x.clean',
  'filter.x.smudge',
  'merge.x.driver',
  'gpg.program',
  'gpg.ssh.program',
  'gpg.ssh.defaultKeyCommand',
  'credential.helper',
  'uploadpack.packObjectsHook',
  'tar.x.command',
  'trailer.x.cmd',
  'alias.status',
  'pager.log',
  'pager.diff',
  'interactive.diffFilter',
  'sequence.editor',
];
const HOOKS = [
  'applypatch-msg',
  'commit-msg',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'prepare-commit-msg',
  'reference-transaction',
];
/** What runs because the person wants it to: their own filters, when files are put into their work tree. */
const OWN_FILTERS = ['filter.x.clean', 'filter.x.smudge'];

function hostileConfiguration({ scratch, marks }: AttackFixture): void {
  for (const key of EXECUTABLE_KEYS) scratch.git('config', key, `${marks.touch(key)}; cat; :`);
  scratch.git('config', 'core.hooksPath', '.git/hooks');
  for (const hook of HOOKS) {
    scratch.file(`.git/hooks/${hook}`, `#!/bin/sh\n${marks.touch(hook)}\n`);
    chmodSync(join(scratch.repository, '.git/hooks', hook), 0o755);
  }
}

describe("the person's git", () => {
  attack(
    'A18: no program of a hostile configuration and no hook runs, whatever is called',
    async (fixture) => {
      const { marks, scratch } = fixture;
      hostileConfiguration(fixture);
      scratch.file('src/a.txt', 'uncommitted\n');
      scratch.git('status');
      scratch.git('add', 'src/a.txt');
      scratch.git('reset', '-q', '--hard');
      scratch.git('commit', '-q', '--allow-empty', '-m', 'two');
      const ran = positiveControl('git status and git commit', marks.found(), (found) => found.length > 5);
      expect(ran).toEqual(
        expect.arrayContaining(['core.fsmonitor', 'filter.x.clean', 'pre-commit', 'reference-transaction']),
      );
      marks.clear();
      fixture.acceptRepository();

      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      await fixture.run(sandbox, 'echo two >src/a.txt; echo new >src/b.txt');
      await sandbox.files.write('src/c.txt', 'c\n');
      await sandbox.files.read('src/c.txt');
      await sandbox.diff();
      await sandbox.log();
      await litterbox.changes('a');
      await litterbox.list();
      await litterbox.restore('a', '1');
      await litterbox.worktree('a');
      await litterbox.reconcile();
      await litterbox.create({ name: 'gone' });
      await litterbox.delete('gone', { force: true });
      for (const args of [['diff', 'a'], ['log', 'a', '-p'], ['list'], ['doctor']])
        expect({ args, code: commandLine(fixture, args).code }).toEqual({ args, code: 0 });
      expect((await sandbox.milestone('m'))?.revisions).toBe(3);
      expect(marks.found()).toEqual([]);

      // What looks at or changes the person's work tree uses the person's own filters, as their git does, and no other program.
      const allowed = async (action: () => Promise<unknown>) => {
        await action();
        expect(marks.found().filter((name) => !OWN_FILTERS.includes(name))).toEqual([]);
        marks.clear();
      };
      rmSync(join(scratch.repository, '.env')); // it would come along, as it should
      fixture.acceptRepository();
      await allowed(async () => await litterbox.create({ name: 'tree', from: 'worktree' }));
      await allowed(async () => await litterbox.plan({ sandbox: 'a', integration: 'merge' }));
      await allowed(async () => expect((await litterbox.apply('a')).outcome).toBe('staged'));
      scratch.git('reset', '-q', '--hard');
      marks.clear();
      await allowed(async () => expect((await litterbox.merge('a')).outcome).toBe('committed'));
      fixture.acceptRepository();
    },
    { 'src/a.txt': 'a\n', '.gitattributes': '*.txt filter=x diff=x merge=x\n' },
  );

  attack('A09: hooks that configuration defines are off for a git that knows them', async (fixture) => {
    const { marks, scratch } = fixture;
    // No git of Debian has such hooks yet: this one behaves as the manual of 2.54 says, for whoever does not switch them off.
    const wrapper = join(scratch.directory, 'git');
    const log = join(scratch.directory, 'calls');
    writeFileSync(
      wrapper,
      `#!/bin/sh
[ "$*" = version ] && { echo 'git version 2.54.0'; exit; }
printf '%s\\n' "$*" >>${log}
for event in post-merge post-checkout reference-transaction post-index-change pre-commit; do
case "$*" in *hook.$event.enabled=false*) ;; *) ${marks.touch('A09-$event')} ;; esac
done
exec git "$@"
`,
      { mode: 0o755 },
    );
    onTheHost([wrapper, 'status'], { cwd: scratch.repository });
    positiveControl('such a git', marks.found(), (found) => found.length === 5);
    marks.clear();
    const litterbox = fixture.open({
      parts: { sourceControl: git({ stateDirectory: scratch.stateDirectory, gitBinary: wrapper }) },
    });
    const sandbox = await litterbox.create({ name: 'a' });
    await sandbox.files.write('scripts/hook.sh', '#!/bin/sh\n');
    await sandbox.milestone('m');
    expect((await litterbox.merge('a')).outcome).toBe('committed');
    expect(readFileSync(log, 'utf8').split('\n').length).toBeGreaterThan(10);
    fixture.acceptRepository();
  });

  attack('A10: attributes of an agent reach no filter and no driver without a yes', async (fixture) => {
    const { marks, scratch } = fixture;
    for (const key of [
      'filter.own.clean',
      'filter.own.smudge',
      'diff.own.textconv',
      'diff.own.command',
      'merge.own.driver',
    ])
      scratch.git('config', key, `${marks.touch(key)}; cat; :`);
    fixture.acceptRepository();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    await fixture.run(
      sandbox,
      "echo '*.txt filter=own diff=own merge=own' >.gitattributes; printf '[lfs]\\n\\turl=https://evil.test/\\n' >.lfsconfig; echo two >src/a.txt",
    );
    expect(await sandbox.diff()).toContain('+two');
    expect(commandLine(fixture, ['diff', 'a']).stdout).toContain('+two');
    const error = await litterbox.apply('a').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RISKY_CHANGES' });
    expect((await litterbox.plan({ sandbox: 'a', integration: 'apply' })).risky.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['.gitattributes', '.lfsconfig']),
    );
    expect(await fixture.achieved()).toEqual([]);
    await litterbox.apply('a', await yesTo(litterbox, 'a'));
    positiveControl("the person's own filter, after a yes", marks.found(), (found) =>
      found.includes('filter.own.smudge'),
    );
    marks.clear();
    fixture.acceptRepository();
  });

  attack('A14: no message passes for authorship or an option, and odd ones are refused', async (fixture) => {
    const { scratch } = fixture;
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const forged = [
      'Co-authored-by: Boss <boss@corp.test>',
      'Signed-off-by: Boss <boss@corp.test>',
      'Signed-off-by:Boss <boss@corp.test>',
      'Reviewed-by :Boss <boss@corp.test>',
      '(cherry picked from commit 0123456789012345678901234567890123456789)',
    ];
    const trailersOf = (message: string) =>
      onTheHost(['git', 'interpret-trailers', '--parse'], { input: message }).stdout;
    const forgedIn = (message: string) =>
      trailersOf(message)
        .split('\n')
        .filter((one) => one !== '' && !/^Litterbox-[A-Z]/.test(one)); // ours, on the review branch
    for (const line of forged)
      positiveControl(line, trailersOf(`fix: x\n\n${line}\n`), (text) => text !== '' || line.startsWith('('));
    const message = (line: string) => `fix: a thing [skip ci]\n\nSee https://localhost/x\n#1 fixes\n\n${line}`;
    for (const line of forged) {
      await sandbox.files.write('src/b.txt', `${line}\n`, { message: message(line) });
      await sandbox.milestone(message(line));
      const text = scratch.git('log', '-1', '--format=%B', 'litterbox/a');
      expect({ line, forged: forgedIn(`${text}\n`) }).toEqual({ line, forged: [] });
      expect(text).toContain(`\n> ${line}`);
      expect(text).toContain('\nSee https://localhost/x');
      expect(text.startsWith('fix: a thing')).toBe(true);
      const [last] = await sandbox.log({ limit: 1 });
      expect(last?.body).toContain(`> ${line}`);
      expect(last?.trailers.map(([name]) => name).every((name) => name.startsWith('Litterbox-'))).toBe(true);
    }
    for (const text of ['-F/etc/passwd', '--amend', '--exec=touch x', '# no comment']) {
      await sandbox.files.write('src/b.txt', `${text}\n`, { message: text });
      await sandbox.milestone(text);
      expect(scratch.git('log', '-1', '--format=%s', 'litterbox/a')).toBe(text);
    }
    expect(new Set(scratch.git('log', '--format=%an <%ae> %cn <%ce>', 'main..litterbox/a').split('\n'))).toEqual(
      new Set(['Litterbox <litterbox@localhost> Litterbox <litterbox@localhost>']),
    );
    for (const [text, code] of [
      ['x\0y', 'MESSAGE_NUL'],
      ['x'.repeat(2 ** 20), 'MESSAGE_TOO_LONG'],
      [' \n', 'MESSAGE_EMPTY'],
    ] as const) {
      await expect(sandbox.milestone(text)).rejects.toMatchObject({ code });
      await expect(sandbox.files.write('src/b.txt', 'never\n', { message: text })).rejects.toMatchObject({ code });
    }
    fixture.acceptRepository();
  });

  attack('A17: nothing of a hostile environment reaches git, the shell or the sandbox', async (fixture) => {
    const { marks, scratch } = fixture;
    const script = join(scratch.directory, 'evil');
    mkdirSync(join(scratch.directory, 'exec'));
    writeFileSync(script, `#!/bin/sh\n${marks.touch('A17-script')}\n`, { mode: 0o755 });
    for (const name of ['git-log', 'git-cat-file'])
      writeFileSync(join(scratch.directory, 'exec', name), `#!/bin/sh\n${marks.touch('A17-exec')}\n`, { mode: 0o755 });
    const env = {
      GIT_DIR: '/tmp/evil',
      GIT_WORK_TREE: '/tmp',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: script,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${script}'`,
      GIT_SSH_COMMAND: script,
      GIT_EXTERNAL_DIFF: script,
      GIT_ASKPASS: script,
      GIT_EDITOR: script,
      GIT_TRACE: join(marks.directory, 'trace'),
      GIT_TRACE2_EVENT: join(marks.directory, 'trace2'),
      GIT_INDEX_FILE: '/tmp/evil-index',
      GIT_OBJECT_DIRECTORY: '/tmp/evil-objects',
      GIT_ALTERNATE_OBJECT_DIRECTORIES: '/tmp/evil-objects',
      GIT_TEMPLATE_DIR: scratch.directory,
      GIT_NAMESPACE: 'evil',
      BASH_ENV: script,
      ENV: script,
      PREFIX: '/tmp/evil',
      IFS: '/',
    };
    const {
      GIT_DIR: _directory,
      GIT_WORK_TREE: _tree,
      GIT_INDEX_FILE: _index,
      GIT_OBJECT_DIRECTORY: _objects,
      ...runnable
    } = env;
    onTheHost(['git', 'status'], { cwd: scratch.repository, env: { PATH: '/usr/bin:/bin', ...runnable } });
    onTheHost(['bash', '-c', ':'], { env: { BASH_ENV: script } });
    positiveControl(
      'the environment',
      marks.found(),
      (found) => found.includes('trace') && found.includes('A17-script'),
    );
    marks.clear();
    const withExec = { ...env, GIT_EXEC_PATH: join(scratch.directory, 'exec') };
    for (const args of [
      ['create', 'a'],
      ['run', 'a', 'echo two >src/a.txt; env'],
      ['log', 'a', '-p'],
      ['diff', 'a'],
      ['milestone', 'a', 'm'],
      ['merge', 'a'],
    ]) {
      const { code, stdout } = commandLine(fixture, args, { env: withExec });
      expect({ args, code, stdoutMatches: /GIT_|BASH_ENV|evil/.test(stdout) }).toEqual({
        args,
        code: 0,
        stdoutMatches: false,
      });
      expect(marks.found()).toEqual([]);
    }
    expect(scratch.git('log', '-1', '--format=%s')).toBe('m');
    expect(scratch.git('status', '--porcelain')).toBe('?? .env');
    for (const path of ['/tmp/evil', '/tmp/evil-index', '/tmp/evil-objects']) expect(existsSync(path)).toBe(false);
    fixture.acceptRepository();
  });

  attack('A19: no value is taken for an option', async (fixture) => {
    const { marks, scratch } = fixture;
    const target = join(marks.directory, 'A19');
    const option = `--output=${target}`;
    onTheHost(['git', 'log', '-p', option], { cwd: scratch.repository });
    positiveControl('git log --output', marks.found(), (found) => found.includes('A19'));
    marks.clear();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    await fixture.run(sandbox, ['sh', '-c', 'echo x >"$1"; echo y >-rf; echo z >"--exec=touch"', 'sh', '--output=x'], {
      message: `--exec=touch ${target}`,
    });
    expect((await litterbox.changes('a')).map(({ path }) => path).toSorted()).toEqual([
      '--exec=touch',
      '--output=x',
      '-rf',
    ]);
    const swallow = async (attempt: () => Promise<unknown>) => await attempt().catch(() => undefined);
    await swallow(async () => await litterbox.changes('a', { paths: [option] }));
    await swallow(async () => await litterbox.changes('a', { revision: option }));
    await swallow(async () => await litterbox.restore('a', option));
    await swallow(
      async () => await litterbox.create({ name: 'b', from: { type: 'revision', revision: option } as never }),
    );
    await swallow(async () => await litterbox.open(`--upload-pack=touch ${target}`));
    await sandbox.milestone(`--exec=touch ${target}`);
    for (const [code, ...args] of [
      [0, 'diff', 'a', '--', option],
      [2, 'diff', 'a', '--revision', option],
      [2, 'merge', 'a', '--', '-X', 'ours', '--exec', marks.touch('A19')],
      [2, 'merge', 'a', '--', option],
      [2, 'merge', 'a', '--', '-s', `../../${target}`],
      [2, 'merge', 'a', '--', `-S${option}`],
      [2, 'create', 'c', '--from', option],
      [2, 'run', `--upload-pack=touch ${target}`, 'true'],
      [2, 'restore', 'a', '--', option],
    ] as const) {
      const ran = commandLine(fixture, args);
      expect({ args, code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
        args,
        code,
        stdout: expect.any(String),
        stderr: expect.any(String),
      });
      expect(marks.found()).toEqual([]);
    }
    fixture.acceptRepository();
  });
});
