import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** The setup names no source: a file that it names is in the key. Python knows a source by time and size alone. */
const SOURCES = {
  'src.txt': '1\n',
  'same.txt': 'same\n',
  'app.py': 'V = 1\n',
  Makefile: 'all: build/src\nbuild/src: src.txt\n\tcp src.txt $@\n',
  '.gitignore': 'build\n__pycache__\n',
  '.litterbox.toml':
    '[container]\nsetup-command = "mkdir build; for f in s*.txt; do cp $f build/${f%.txt}; done; if command -v python3; then python3 -c \'import app\'; fi"\n',
};

describe(`field cases of setups, on ${PROVIDER}`, () => {
  it('FC-03: the text of a command and of a setup is run by bash where the sandbox has it, else by sh', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const sandbox = await fixture.open().create({ name: 'a', setup: 'mkdir -p ~/p/{a,b}; false | true' });
    const hasBash = (await sandbox.run(['sh', '-c', 'command -v bash'])).exitCode === 0;
    const both = hasBash ? 'a\nb\n' : '{a,b}\n';
    expect((await sandbox.run('ls ~/p')).stdout).toBe(both);
    expect(await sandbox.run('mkdir -p q/{a,b}; ls q')).toMatchObject({ stdout: both, shell: hasBash ? 'bash' : 'sh' });
    expect((await sandbox.run(['echo', '{a,b}'])).stdout).toBe('{a,b}\n');
  });

  it('FC-04: beside what a setup built, changed sources are newer and equal ones are not: create, fork, restore', async () => {
    await using fixture = new LibraryFixture(SOURCES);
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    const first = await litterbox.create({ name: 'first' });
    const judge = async (sandbox: Sandbox) =>
      (
        await sandbox.run(
          'for f in src same; do if [ $f.txt -nt build/$f ]; then echo "$f is newer"; else echo "$f is built"; fi; done; stat -c %Y same.txt',
        )
      ).stdout.split('\n');
    const [src, same, time] = await judge(first);
    expect([src, same]).toEqual(['src is built', 'same is built']);
    const commit = (text: string) => {
      fixture.file('src.txt', text);
      fixture.file('app.py', `V = ${text}`);
      fixture.git('commit', '-qam', 'next');
    };
    commit('2\n');
    const steps: string[] = [];
    const second = await litterbox.create(
      { name: 'second' },
      { onProgress: ({ message }) => void steps.push(message) },
    );
    expect(steps).toContain('Set up already: taking what the same setup left before');
    const newer = ['src is newer', 'same is built', time, ''];
    expect(await judge(second)).toEqual(newer);
    expect(await second.diff()).toBe('');
    if (PROVIDER === 'overlayfs') {
      // The real thing, where it is installed.
      const built = await second.run('make -s; cat build/src; python3 -c "import app; print(app.V)"');
      expect(built).toMatchObject({ stdout: '2\n2\n', stderr: '' });
      await second.run('rm build/src; cp -p same.txt build/src');
    }
    const fork = await second.fork();
    expect((await fork.run('[ src.txt -nt build/same ] && cat src.txt')).stdout).toBe('2\n');
    await second.run('echo 3 >src.txt; touch -d "2001-01-01 00:00" build/src');
    await litterbox.restore('second', '0');
    expect((await second.run('[ src.txt -nt build/src ] && cat src.txt')).stdout).toBe('2\n');
  });

  it('FC-16: a setup that wants a repository is told how; the one inside tells branch and tags as outside, and is clean', async () => {
    await using fixture = new LibraryFixture({
      'a.txt': 'a\r\n',
      'kept.log': 'tracked and ignored\n',
    });
    const { git } = fixture;
    fixture.file('.gitignore', '*.log\n');
    fixture.file('.gitattributes', '* text=auto eol=lf\n*.txt working-tree-encoding=UTF-16\n');
    git('add', '.gitignore', '.gitattributes');
    git('commit', '-q', '-m', 'rules');
    const litterbox = fixture.open();
    const refused = await litterbox
      .create({ name: 'refused', setup: 'echo "fatal: not a git repository" >&2; exit 128' })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'SETUP_FAILED',
      details: { hint: expect.stringContaining('workspace.git = "throwaway"') },
    });
    const plain = await litterbox.create({ name: 'plain' });
    if ((await plain.run('command -v git')).exitCode !== 0) return; // an image without git has no use for a repository
    git('tag', 'v1.4.0');
    git('tag', '-a', '-m', 'secret words', 'stable');
    git('commit', '-q', '--allow-empty', '-m', 'secret subject');
    git('commit', '-q', '--allow-empty', '-m', 'another secret');
    git('branch', 'secret-branch');
    git('checkout', '-q', '-b', 'work/on-it');
    fixture.file('kept.log', 'stashed secret\n');
    git('stash', '-q');
    const told = (sandbox: Sandbox) =>
      sandbox.run(
        'git describe --tags --match "v*" --long | sed s/-g.*//; git describe --long | sed s/-g.*//; git status --porcelain --ignored; git branch --show-current; git show HEAD:kept.log; git for-each-ref | wc -l; grep -rl secret .git; git log --all --format=%B',
      );
    const wanted = (version: string, stable: string, branch: string) => ({
      stdout: `${version}\n${stable}\n${branch}\ntracked and ignored\n`,
      stderr: '',
    });
    const sandbox = await litterbox.create({ name: 'a', workspaceGit: 'throwaway' });
    const { stdout, stderr, recorded } = await told(sandbox);
    const head = wanted('v1.4.0-2', 'stable-2', 'work/on-it');
    expect({ stdout: stdout.split('\n').slice(0, 4).join('\n') + '\n', stderr }).toEqual(head);
    expect(
      stdout
        .slice(head.stdout.length)
        .split('\n')
        .filter((line) => line !== ''),
    ).toEqual(['3', 'base']);
    expect(recorded.warnings).toEqual([]);
    expect(git('describe', '--tags', '--match', 'v*', '--long').replace(/-g.*/, '')).toBe('v1.4.0-2');

    // Exactly at a tag, from elsewhere, and with the same files: nothing that was made before is taken for it.
    const setup = 'git describe --tags --match "v*" >~/version';
    const older = await litterbox.create({ name: 'older', workspaceGit: 'throwaway', setup });
    expect((await older.run('cat ~/version')).stdout).toMatch(/^v1\.4\.0-2-g/);
    git('tag', 'v1.5.0');
    const newer = await litterbox.create({ name: 'newer', workspaceGit: 'throwaway', setup });
    expect((await newer.run('cat ~/version; git describe --tags --match "v*"')).stdout).toBe('v1.5.0\nv1.5.0\n');
    git('checkout', '-q', '--detach', 'v1.4.0');
    const detached = await litterbox.create({ name: 'detached', workspaceGit: 'throwaway' });
    expect(await told(detached)).toMatchObject({
      stdout: expect.stringMatching(/^v1\.4\.0-0\nstable-0\ntracked and ignored\n2\nbase\n/),
    });
    fixture.file('kept.log', 'edited\n');
    const edited = await litterbox.create({ name: 'edited', workspaceGit: 'throwaway', from: 'worktree' });
    expect((await edited.run('git describe --tags --match "v*"; cat kept.log; git status --porcelain')).stdout).toBe(
      'v1.4.0\nedited\n',
    );
  });

  it('FC-11: files of Git LFS have their contents inside, come back as pointers, and what is not here is named', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const { git, repository } = fixture;
    const large = (text: string) => text.repeat(2000);
    git('lfs', 'install', '--local');
    git('lfs', 'track', '*.bin');
    for (const name of ['here', 'gone']) writeFileSync(join(repository, `${name}.bin`), large(name));
    git('add', '-A');
    git('commit', '-qm', 'large');
    const litterbox = fixture.open();
    const first = await litterbox.create({ name: 'first', setup: 'cat here.bin gone.bin >/dev/null; mkdir ~/made' });
    expect((await first.run('wc -c <here.bin')).stdout.trim()).toBe(String(large('here').length));
    const { recorded } = await first.run('touch here.bin; cat here.bin gone.bin >new.bin');
    expect(recorded.warnings).toEqual([]);
    const { tip } = await litterbox.plan({ sandbox: 'first', integration: 'merge' });
    await litterbox.merge('first', { acceptRisky: true, tip });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('cat-file', 'blob', 'HEAD:new.bin')).toContain('version https://git-lfs');
    expect(git('show', '--name-only', '--format=', 'HEAD').trim()).toBe('new.bin');

    // With another content at hand the same commit is another workspace, and what its setup made another thing.
    const name = git('cat-file', 'blob', 'HEAD:gone.bin').match(/sha256:(..)(..)(\S+)/);
    const [, one = '', two = '', rest = ''] = name ?? [];
    rmSync(join(repository, '.git/lfs/objects', one, two, `${one}${two}${rest}`));
    const second = await litterbox.create({ name: 'second', setup: 'cat here.bin gone.bin >/dev/null; mkdir ~/made' });
    expect(second.record.missingLargeFiles).toEqual({ paths: ['gone.bin'], total: 1 });
    expect((await second.run('head -n 1 gone.bin; wc -c <here.bin')).stdout).toMatch(/^version https.*\n *8000\n$/);
  });

  it('FC-07: the files of submodules are there at their commit, are never recorded, and what is empty is named', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const { git, directory, repository } = fixture;
    const at = (path: string, ...args: readonly string[]) =>
      execFileSync(
        'git',
        ['-c', 'protocol.file.allow=always', '-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args],
        {
          cwd: path,
          env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
          stdio: 'pipe',
        },
      );
    const make = (name: string, files: Readonly<Record<string, string>>) => {
      const path = join(directory, name);
      mkdirSync(path);
      at(path, 'init', '-q');
      for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
      at(path, 'add', '-A');
      at(path, 'commit', '-qm', 'x');
      return path;
    };
    const inner = make('inner', { 'inner.sh': 'echo inner\n' });
    const lib = make('lib', { 'l.sh': 'x=1\n', '.gitattributes': '*.sh filter=evil\n' });
    at(lib, 'submodule', '--quiet', 'add', inner, 'deep/inner');
    at(lib, 'commit', '-qm', 'inner');
    for (const [name, path] of [
      ['lib', 'vendor/lib'],
      ['lib', 'gone'],
    ] as const)
      at(repository, 'submodule', '--quiet', 'add', join(directory, name), path);
    at(repository, 'submodule', '--quiet', 'update', '--init', '--recursive');
    git('commit', '-qam', 'submodules');
    // Nothing of a submodule's own configuration counts, nor does its work tree.
    const modules = join(repository, '.git/modules');
    at(join(repository, 'vendor/lib'), 'config', 'filter.evil.smudge', `touch ${directory}/pwned`);
    at(join(repository, 'vendor/lib'), 'config', 'core.fsmonitor', `touch ${directory}/pwned`);
    writeFileSync(join(repository, 'vendor/lib/l.sh'), 'x=edited\n');
    for (const left of [join(modules, 'gone'), join(repository, 'gone')]) rmSync(left, { recursive: true });
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const look = '. vendor/lib/l.sh; echo $x; sh vendor/lib/deep/inner/inner.sh; ls -A gone';
    expect(await sandbox.run(look)).toMatchObject({ stdout: '1\ninner\n', stderr: '', recorded: { changedFiles: 0 } });
    expect(sandbox.record.emptySubmodules).toEqual([{ path: 'gone', reason: 'it is not initialised here' }]);
    expect(existsSync(join(directory, 'pwned'))).toBe(false);
    const { recorded } = await sandbox.run('echo x=2 >vendor/lib/l.sh; echo b >b.txt');
    expect(recorded.warnings.map(({ type, path }) => ({ type, path }))).toEqual([
      { type: 'refused-path', path: 'vendor/lib/l.sh' },
    ]);
    expect(await sandbox.diff()).not.toContain('vendor');

    // Another commit of a submodule is another base, for a kept setup too.
    const setup = 'cat vendor/*/l.sh >~/built';
    const kept = await litterbox.create({ name: 'kept', setup });
    writeFileSync(join(lib, 'l.sh'), 'x=3\n');
    at(lib, 'commit', '-qam', 'three');
    for (const key of ['filter.evil.smudge', 'core.fsmonitor'])
      at(join(repository, 'vendor/lib'), 'config', '--unset', key);
    at(join(repository, 'vendor/lib'), 'fetch', '-q');
    at(join(repository, 'vendor/lib'), 'reset', '-q', '--hard', 'FETCH_HEAD');
    at(repository, 'submodule', '--quiet', 'update', '--init', 'gone');
    git('commit', '-qm', 'three', 'vendor/lib');
    const next = await litterbox.create({ name: 'next', setup });
    const built = async (one: Sandbox) => (await one.run('cat ~/built vendor/lib/l.sh; ls gone')).stdout;
    expect(await built(kept)).toBe('x=1\nx=1\n');
    expect(await built(next)).toBe('x=3\nx=3\ndeep\nl.sh\n');
    expect((await (await next.fork()).run('cat vendor/lib/l.sh')).stdout).toBe('x=3\n');
    expect(next.record.emptySubmodules?.map(({ path }) => path)).toEqual(['gone/deep/inner']);

    let hostiles = 0;
    // Names lead nowhere: up, through a link, to a gitdir elsewhere.
    const hostile = async (name: string, prepare: () => void = () => {}) => {
      prepare();
      fixture.file('.gitmodules', `[submodule "${name}"]\n\tpath = vendor/lib\n\turl = x\n`);
      git('add', '.gitmodules');
      git('commit', '-qm', name);
      const made = await litterbox.create({ name: `h${(hostiles += 1)}` });
      expect({ name, stdout: (await made.run('ls -A vendor/lib')).stdout }).toEqual({ name, stdout: '' });
      expect(made.record.emptySubmodules).toContainEqual({ path: 'vendor/lib', reason: 'it is not initialised here' });
    };
    await hostile('../modules/vendor/lib');
    await hostile('x/../vendor/lib', () => mkdirSync(join(modules, 'x')));
    await hostile(join(modules, 'vendor/lib'));
    await hostile('link', () => symlinkSync(join(modules, 'vendor/lib'), join(modules, 'link')));
    await hostile('half', () => {
      mkdirSync(join(modules, 'half'));
      symlinkSync(join(modules, 'vendor/lib/objects'), join(modules, 'half/objects'));
    });
  });
});
