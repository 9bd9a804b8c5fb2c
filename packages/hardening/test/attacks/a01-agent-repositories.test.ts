// What an agent leaves for the host's git to trip over: repositories, pointers to repositories, hooks, attributes, links.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import type { Sandbox } from 'litterbox';
import { type AttackFixture, onTheHost, positiveControl, repositoryDigest, yesTo } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const IDENTITY = '-c user.name=x -c user.email=x@localhost -c init.defaultBranch=main';

/** The same payload in a plain repository of the host, then what a person runs: the mark has to appear. */
function runsOnTheHost({ marks }: AttackFixture, payload: string, command: string, mark: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-control-'));
  try {
    const prepare = `git ${IDENTITY} init -q . && echo one >tracked && git add -A && git ${IDENTITY} commit -q -m one`;
    onTheHost(['sh', '-c', `${prepare}; ${payload}; ${command}`], {
      cwd: directory,
      env: { PATH: '/usr/bin:/bin', HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
    });
    positiveControl(`${mark} with: ${command}`, marks.found(), (found) => found.includes(mark));
  } finally {
    marks.clear();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Everything Litterbox does for agent and person, on the sandbox's work. Apply is accepted as a person would. */
async function everything(fixture: AttackFixture, sandbox: Sandbox): Promise<void> {
  const litterbox = fixture.open();
  await sandbox.files.write('seen.txt', 'x\n');
  fixture.hear('a diff', await sandbox.diff());
  fixture.hear('the changes', JSON.stringify(await litterbox.changes(sandbox.name)));
  fixture.hear('the log', JSON.stringify(await sandbox.log()));
  fixture.hear('a file', await sandbox.files.read('seen.txt'));
  fixture.hear('the plan', JSON.stringify(await litterbox.plan({ sandbox: sandbox.name, integration: 'merge' })));
  await litterbox.worktree(sandbox.name);
  await litterbox.reconcile();
  await litterbox.apply(sandbox.name, await yesTo(litterbox, sandbox.name));
  fixture.scratch.git('status');
  fixture.acceptRepository();
}

/** What the plan says lies in something that git takes for a repository, the folder of templates left aside. */
async function repositoriesTold(fixture: AttackFixture): Promise<readonly string[]> {
  const { risky } = await fixture.open().plan({ sandbox: 'a', integration: 'apply' });
  return risky
    .filter(({ reasons }) => reasons.includes('lies in a directory that git takes for a repository'))
    .map(({ path }) => path)
    .filter((path) => !/^b\/(hooks|info|description)/.test(path))
    .toSorted();
}

const trackedIn = ({ scratch }: AttackFixture) => scratch.git('ls-files', '-s').split('\n');

describe('repositories that an agent makes', () => {
  attack("A01: a nested repository's fsmonitor does not run on the host", async (fixture) => {
    const payload = `mkdir -p vendor/x && cd vendor/x && git ${IDENTITY} init -q && git config core.fsmonitor '${fixture.marks.touch('A01')}; false' && echo code >code.txt && git ${IDENTITY} commit -q --allow-empty -m x; cd ../..`;
    runsOnTheHost(fixture, payload, 'git status', 'A01');
    const sandbox = await fixture.open().create({ name: 'a' });
    const { recorded } = await fixture.run(sandbox, payload);
    expect(recorded.warnings).toEqual([{ type: 'nested-repository', path: 'vendor/x/.git' }]);
    await everything(fixture, sandbox);
    const tracked = trackedIn(fixture);
    expect(tracked.filter((line) => line.includes('vendor'))).toEqual([
      expect.stringMatching(/^100644 .*\tvendor\/x\/code\.txt$/),
    ]);
  });

  attack("A02: a nested repository's clean filter does not run on the host", async (fixture) => {
    const payload = `mkdir -p vendor/y && cd vendor/y && git ${IDENTITY} init -q && echo aaa >f && git add f && git ${IDENTITY} commit -q -m x && echo '* filter=e' >.gitattributes && git config filter.e.clean '${fixture.marks.touch('A02')}; cat' && echo bbb >f; cd ../..`;
    runsOnTheHost(fixture, payload, 'git -c core.fsmonitor=false add -A; git -c core.fsmonitor=false status', 'A02');
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(sandbox, payload);
    await everything(fixture, sandbox);
    expect(trackedIn(fixture).join('\n')).toContain('vendor/y/f');
  });

  attack('A03: hooks in a .git at the top are never recorded, and never reach the repository', async (fixture) => {
    const payload = `mkdir -p .git/hooks; printf '#!/bin/sh\\n${fixture.marks.touch('A03')}\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`;
    runsOnTheHost(fixture, payload, 'git checkout -q -b t', 'A03');
    const sandbox = await fixture.open().create({ name: 'a' });
    const { recorded } = await fixture.run(sandbox, payload);
    expect(recorded.warnings).toEqual([{ type: 'refused-path', code: 'PATH_GIT_DIR', path: '.git' }]);
    await expect(sandbox.files.write('.git/hooks/post-checkout', 'x')).rejects.toMatchObject({ code: 'PATH_GIT_DIR' });
    const hooks = Object.entries(repositoryDigest(fixture.scratch.repository)).filter(([path]) =>
      path.startsWith('.git/hooks/'),
    );
    await everything(fixture, sandbox);
    fixture.scratch.git('checkout', '-q', '-b', 't');
    fixture.acceptRepository();
    expect(
      Object.entries(repositoryDigest(fixture.scratch.repository)).filter(([path]) => path.startsWith('.git/hooks/')),
    ).toEqual(hooks);
  });

  attack('A05: a .git file that points to another repository is neither recorded nor followed', async (fixture) => {
    const secret = fixture.canaries[0]?.secret ?? '';
    const other = join(fixture.home, 'other');
    onTheHost([
      'sh',
      '-c',
      `git ${IDENTITY} init -q "$1" && cd "$1" && echo "$2" >secret && git add . && git ${IDENTITY} commit -q -m "$2"`,
      'sh',
      other,
      secret,
    ]);
    const payload = `echo 'gitdir: ${other}/.git' >.git; mkdir -p sub && cp .git sub/.git`;
    const directory = mkdtempSync(join(tmpdir(), 'litterbox-control-'));
    const seen = onTheHost(['sh', '-c', `${payload}; git log -1 --format=%s`], { cwd: directory }).stdout;
    positiveControl('a .git file that points elsewhere', seen, (text) => text.includes(secret));
    rmSync(directory, { recursive: true, force: true });
    const sandbox = await fixture.open().create({ name: 'a' });
    const { recorded } = await fixture.run(sandbox, `${payload}; git log; git --git-dir=${other}/.git log`);
    expect(recorded.warnings.map(({ type, path }) => [type, path]).toSorted()).toEqual([
      ['nested-repository', 'sub/.git'],
      ['refused-path', '.git'],
    ]);
    const trace = join(fixture.scratch.directory, 'trace');
    const strace = [
      'strace',
      '-f',
      '-qq',
      '--seccomp-bpf',
      '-e',
      'trace=open,openat,openat2,chdir,execve',
      '-o',
      trace,
    ] as const;
    for (const args of [
      ['run', 'a', 'echo x >x'],
      ['diff', 'a'],
      ['apply', 'a', '--yes-risky'],
    ]) {
      const ran = commandLine(fixture, args, { prefix: strace });
      expect({ args, code: ran.code, stderrIncludes: ran.stderr.includes('rror') }).toEqual({
        args,
        code: 0,
        stderrIncludes: false,
      });
      const opened = readFileSync(trace, 'utf8');
      positiveControl('strace', opened, (text) => text.includes(join(fixture.scratch.repository, '.git')));
      expect(opened.split('\n').filter((line) => line.includes(other))).toEqual([]);
    }
    fixture.acceptRepository();
    rmSync(other, { recursive: true, force: true });
  });

  attack('A06: a commondir that leads to a crafted configuration is not followed', async (fixture) => {
    const payload = `mkdir -p .git badgit && git ${IDENTITY} init -q --bare badgit && git -C badgit config core.bare false && git -C badgit config core.fsmonitor '${fixture.marks.touch('A06')}; false' && cp badgit/HEAD .git/HEAD && echo ../badgit >.git/commondir`;
    runsOnTheHost(fixture, `rm -rf .git; ${payload}`, 'git status', 'A06');
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(sandbox, payload);
    await everything(fixture, sandbox);
    fixture.scratch.git('status');
  });

  /** Empty directories are not tracked, and without them git sees no repository: they get a file each. */
  const filled = (directory: string) => `touch ${directory}/objects/keep ${directory}/refs/keep`;

  attack(
    'A07: a bare repository in the tree is told as one, needs a yes, and Litterbox does not run it',
    async (fixture) => {
      const payload = `git ${IDENTITY} init -q --bare b && git -C b config core.bare false && git -C b config core.worktree .. && git -C b config core.fsmonitor '${fixture.marks.touch('A07')}; false' && ${filled('b')}`;
      runsOnTheHost(fixture, payload, 'cd b && git status', 'A07');
      const sandbox = await fixture.open().create({ name: 'a' });
      await fixture.run(sandbox, payload);
      await expect(fixture.open().apply('a')).rejects.toMatchObject({ code: 'RISKY_CHANGES' });
      expect(await repositoriesTold(fixture)).toEqual(['b/HEAD', 'b/config', 'b/objects/keep', 'b/refs/keep']);
      await everything(fixture, sandbox);
      // What is left is what a person does in there; the manual recommends a setting with which git refuses.
      const inside = { cwd: join(fixture.scratch.repository, 'b') };
      expect(onTheHost(['git', '-c', 'safe.bareRepository=explicit', 'status'], inside).code).not.toBe(0);
      expect(fixture.marks.found()).toEqual([]);
      positiveControl(
        'git status in it',
        onTheHost(['git', 'status'], inside) && fixture.marks.found(),
        (found) => found.length > 0,
      );
      fixture.marks.clear();
    },
  );

  attack('AX2: a bare repository whose configuration lies elsewhere is told as one', async (fixture) => {
    const payload = `git ${IDENTITY} init -q --bare c && git -C c config core.pager '${fixture.marks.touch('AX2')}' && ${filled('c')} && rm -r c/hooks && mkdir b && mv c/HEAD b/HEAD && echo ../c >b/commondir`;
    runsOnTheHost(fixture, payload, 'cd b && script -qec "git branch -a; git config -l" /dev/null', 'AX2');
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(sandbox, payload);
    await expect(fixture.open().apply('a')).rejects.toMatchObject({ code: 'RISKY_CHANGES' });
    expect(await repositoriesTold(fixture)).toEqual(['b/HEAD', 'b/commondir']);
    await everything(fixture, sandbox);
  });

  const NAMES = [
    '.GIT',
    '.Git',
    'git~1',
    'GIT~1',
    '.git ',
    '.git.',
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit',
    '.gi\u200dt',
    '.git\ufeff',
    'x\\.git\\config',
  ];
  attack('AX1: no spelling of .git that some file system takes for it is recorded', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const { recorded } = await fixture.run(sandbox, [
      'sh',
      '-c',
      'for n do mkdir -p "$n/hooks" "deep/$n" && echo x >"$n/config" && echo x >"deep/$n/f" && echo x >"$n/hooks/post-merge"; done; echo fine >fine.txt',
      'sh',
      ...NAMES,
    ]);
    expect(recorded.changedFiles).toBe(1);
    expect(recorded.warnings).toHaveLength(NAMES.length * 2);
    expect((await fixture.open().changes('a')).map(({ path }) => path)).toEqual(['fine.txt']);
  });

  attack('A13: files that git reads are refused as links, and nothing of the host is in a diff', async (fixture) => {
    const passwd = positiveControl('reading /etc/passwd', readFileSync('/etc/passwd', 'utf8'), (text) =>
      text.includes('root:'),
    );
    const names = ['.gitattributes', '.gitmodules', '.mailmap', 'sub/.gitignore', 'sub/.gitattributes', 'GITATT~1'];
    const sandbox = await fixture.open().create({ name: 'a' });
    const { recorded } = await fixture.run(sandbox, [
      'sh',
      '-c',
      'mkdir -p sub; for n do ln -s /etc/passwd "$n"; done; rm .gitignore; ln -s /etc/passwd .gitignore; ln -s /etc/passwd plain',
      'sh',
      ...names,
    ]);
    expect(recorded.warnings.map((warning) => [warning.path, 'code' in warning && warning.code]).toSorted()).toEqual(
      [...names, '.gitignore'].map((name) => [name, 'PATH_SPECIAL_SYMLINK']).toSorted(),
    );
    const diff = await sandbox.diff();
    expect(diff).toContain('+/etc/passwd');
    for (const line of passwd.split('\n').filter((text) => text !== '')) expect(diff).not.toContain(line);
    await everything(fixture, sandbox);
  });

  attack('A11: hostile submodules never reach the repository, and nothing is cloned', async (fixture) => {
    const { marks, scratch } = fixture;
    const modules = (text: string) => `printf '${text}' >.gitmodules`;
    const hostile = {
      'a URL that runs a command': modules(
        `[submodule "x"]\\n\\tpath = x\\n\\turl = ext::sh -c "${marks.touch('A11')}"\\n`,
      ),
      'a URL that is an option': modules(`[submodule "x"]\\n\\tpath = x\\n\\turl = -u./payload\\n`),
      'a name that leads out': modules(`[submodule "../../x"]\\n\\tpath = x\\n\\turl = https://localhost/x\\n`),
      'an update command': modules(
        `[submodule "x"]\\n\\tpath = x\\n\\turl = https://localhost/x\\n\\tupdate = !${marks.touch('A11b')}\\n`,
      ),
    };
    const before = scratch.git('for-each-ref', 'refs/heads');
    for (const [index, [what, payload]] of Object.entries(hostile).entries()) {
      const sandbox = await fixture.open().create({ name: `a${index}` });
      await fixture.run(sandbox, payload);
      const outcome = await fixture
        .open()
        .apply(sandbox.name, await yesTo(fixture.open(), sandbox.name))
        .then(
          ({ outcome: done }) => done,
          (error: { readonly code?: string }) => error.code,
        );
      if (what === 'a URL that runs a command') {
        // git checks such URLs when it clones: ext is refused there, and Litterbox never clones. A person is asked before.
        expect({ what, outcome }).toEqual({ what, outcome: 'staged' });
        scratch.git('reset', '-q', '--hard');
        fixture.acceptRepository();
      } else expect({ what, outcome }).toEqual({ what, outcome: 'PERMISSION_DENIED' });
      await expect(fixture.open().apply(sandbox.name)).rejects.toMatchObject({ code: 'RISKY_CHANGES' });
    }
    expect(scratch.git('for-each-ref', 'refs/heads')).toBe(before);
  });

  attack('A11: a submodule of an agent is recorded as plain files, never as a link to a commit', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(
      sandbox,
      `git ${IDENTITY} init -q . && mkdir sub && cd sub && git ${IDENTITY} init -q . && echo x >f && git add f && git ${IDENTITY} commit -q -m x && cd .. && git ${IDENTITY} -c protocol.file.allow=always submodule add ./sub sub; printf '160000 commit\\n' >odd; git ls-files -s`,
    );
    await fixture.open().apply('a', await yesTo(fixture.open(), 'a'));
    fixture.acceptRepository();
    const tracked = trackedIn(fixture);
    expect(tracked.some((line) => line.endsWith('\tsub/f'))).toBe(true);
    expect(tracked.filter((line) => line.startsWith('160000'))).toEqual([]);
  });

  attack("A21: an agent's replacement refs and grafts change nothing, nor do the person's own", async (fixture) => {
    const { scratch } = fixture;
    const [head = ''] = scratch.git('rev-parse', 'HEAD').split('\n');
    const blob = scratch.git('rev-parse', 'HEAD:src/a.txt');
    scratch.file('evil', 'replaced\n');
    const evil = scratch.git('hash-object', '-w', 'evil');
    scratch.git('replace', blob, evil);
    scratch.git('clean', '-fdq', 'evil');
    fixture.acceptRepository();
    positiveControl('a replacement ref', scratch.git('show', 'HEAD:src/a.txt'), (text) => text === 'replaced');
    const sandbox = await fixture.open().create({ name: 'a' });
    expect((await fixture.run(sandbox, 'cat src/a.txt')).stdout).toBe('a\n');
    await fixture.run(
      sandbox,
      `git ${IDENTITY} init -q . && git add -A && git ${IDENTITY} commit -q -m x && mkdir -p .git/refs/replace && cp .git/refs/heads/main .git/refs/replace/${head} && mkdir -p .git/info && echo ${head} >.git/info/grafts; echo new >src/b.txt`,
    );
    expect((await fixture.open().changes('a')).map(({ path }) => path)).toEqual(['src/b.txt']);
    expect(await sandbox.diff()).not.toContain('replaced');
  });

  attack(
    'A15: an agent that rewrites history in the sandbox rewrites its own throw-away repository',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      await sandbox.files.write('one.txt', '1\n');
      await fixture.run(sandbox, `git ${IDENTITY} init -q . && git add -A && git ${IDENTITY} commit -q -m mine`);
      const before = await sandbox.log();
      positiveControl(
        'amending',
        (await fixture.run(sandbox, `git ${IDENTITY} commit -q --amend -m other && git log --format=%s`)).stdout,
        (text) => text === 'other\n',
      );
      await fixture.run(
        sandbox,
        `git ${IDENTITY} commit --amend -m x; git push --force; git update-ref -d HEAD; git reset --hard HEAD~5; rm -rf .git; rm -rf ./* .gitignore`,
      );
      const after = await sandbox.log();
      expect(after.slice(-before.length)).toEqual(before);
      expect(after.length).toBe(before.length + 1);
      await fixture.open().restore('a', '1');
      expect(new TextDecoder().decode(await sandbox.files.read('one.txt'))).toBe('1\n');
    },
  );
});
