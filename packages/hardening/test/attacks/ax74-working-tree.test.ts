// The person's working tree as a base, and what of it comes along: no secret unasked, nothing from elsewhere, nothing that lives.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const FILES = { 'src/a.txt': 'a\n', '.gitignore': 'built/\nout\nvendor/\n' };
/** No more than a key's first line, which is what tells one. */
const KEY = '-----BEGIN PRIVATE KEY-----\n';

/** A directory beside the repository, with what is nobody's business. */
function hidden({ scratch }: AttackFixture): string {
  const directory = join(scratch.directory, 'private');
  mkdirSync(join(directory, 'deep'), { recursive: true });
  writeFileSync(join(directory, 'deep/letter'), 'private\n');
  return directory;
}

/** What a sandbox with these files of the working tree has in its workspace: names, and `private` where that can be read. */
async function insideWith(fixture: AttackFixture, name: string, include: readonly string[]): Promise<string> {
  const sandbox = await fixture.open().create({ name, include: [...include] });
  const { stdout } = await fixture.run(sandbox, 'find . | LC_ALL=C sort; find . -type f -exec cat {} +');
  return stdout;
}

describe('the working tree', () => {
  attack(
    'AX74: what looks like a secret does not come with the working tree, however it is written or staged',
    async (fixture) => {
      const { scratch, canaries } = fixture;
      const secret = canaries.find(({ place }) => place === 'env')?.secret ?? '';
      const names = [
        '.ENV',
        '.Env.local',
        'deep/er/.env',
        'prod.env',
        'ID_RSA',
        'server.PEM',
        '.e\u200bnv',
        'line\nbreak.key',
      ];
      for (const name of names) scratch.file(name, `${secret}\n`);
      scratch.file('notes.txt', `${KEY}${secret}\n`);
      scratch.file('src/a.txt', `edited\n${KEY}`);
      scratch.file('staged.p12', 'staged'); // what is staged, the repository has itself
      scratch.git('add', 'staged.p12', 'src/a.txt');
      scratch.file('ordinary.txt', 'of the person\n');
      fixture.acceptRepository();
      const created = commandLine(fixture, ['create', 'box', '--from', 'worktree']);
      expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('12 files look like secrets') });
      const { stdout } = commandLine(fixture, [
        'run',
        'box',
        '--',
        'sh',
        '-c',
        'find . -type f; cat ordinary.txt src/a.txt',
      ]);
      positiveControl('an untracked file', stdout, (text) => text.includes('of the person\n'));
      const found = stdout.split('\n').filter((line) => line.startsWith('./'));
      expect(found.sort()).toEqual(['./.gitignore', './ordinary.txt', './src/a.txt']);
      expect(stdout.endsWith('a\n')).toBe(true);
      // What is named is brought, and is in no history.
      commandLine(fixture, ['create', 'asked', '--from', 'worktree', '--include', 'ordinary.txt']);
      const asked = commandLine(fixture, [
        'run',
        'asked',
        '--',
        'sh',
        '-c',
        'echo more >>ordinary.txt; cat ordinary.txt',
      ]);
      positiveControl('a file that is named', asked.stdout, (text) => text === 'of the person\nmore\n');
      expect(commandLine(fixture, ['diff', 'asked']).stdout).toBe('');
    },
    FILES,
  );

  attack(
    'AX104: copies of secrets, logins of tools and keys in other encodings do not come with the working tree',
    async (fixture) => {
      const { scratch, canaries } = fixture;
      const secret = canaries.find(({ place }) => place === 'env')?.secret ?? '';
      const names = [
        '.env~',
        '.env.d/database',
        '.mcp.json',
        '.vault_pass',
        '.bash_history',
        '.claude/settings.local.json',
        'id_rsa.bak',
        'local.settings.json',
        'terraform.tfvars',
      ];
      for (const name of names) scratch.file(name, `${secret}\n`);
      scratch.file('auth.json', `{"github-oauth": {"github.com": "${secret}"}}`);
      scratch.file('login.txt', `{"refresh_token": "0123456789abcdef", "more": "${secret}"}`);
      scratch.file('wg0.conf', `PrivateKey = ${'aB3+'.repeat(10)}abc=\n# ${secret}`);
      scratch.file('settings.ini', `url = https://deploy:correct-horse@git.acme.dev/ ${secret}`);
      writeFileSync(join(scratch.repository, 'utf16.txt'), Buffer.from(`\ufeff${KEY}${secret}`, 'utf16le'));
      for (const name of ['locales/en/auth.json', 'notes.old', 'compose.yaml'])
        scratch.file(name, '{"password": "Password"} postgres://postgres:postgres@db/app\n');
      fixture.acceptRepository();
      const created = commandLine(fixture, ['create', 'box', '--from', 'worktree']);
      // With the .env of the person.
      expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('15 files look like secrets') });
      const { stdout } = commandLine(fixture, ['run', 'box', '--', 'find', '.', '-type', 'f']);
      expect(stdout.trim().split('\n').sort()).toEqual([
        './.gitignore',
        './compose.yaml',
        './locales/en/auth.json',
        './notes.old',
        './src/a.txt',
      ]);
    },
    FILES,
  );

  attack(
    'AX106: what nobody committed is in no base tree once its last sandbox is deleted',
    async (fixture) => {
      const { scratch } = fixture;
      const bases = join(scratch.stateDirectory, 'overlayfs/bases');
      const kept = () => readdirSync(bases).filter((name) => existsSync(join(bases, name, 'ordinary.txt')));
      scratch.file('ordinary.txt', 'of the person\n');
      fixture.acceptRepository();
      const litterbox = fixture.open();
      await litterbox.create({ name: 'one' });
      for (const name of ['two', 'three']) {
        const sandbox = await litterbox.create({ name, from: 'worktree' });
        expect((await fixture.run(sandbox, 'cat ordinary.txt')).stdout).toBe('of the person\n');
      }
      await litterbox.delete('two', { force: true });
      positiveControl('the base of the other one', kept().length, (count) => count > 0);
      await litterbox.delete('three', { force: true });
      expect(kept()).toEqual([]);
      // A base of what is committed stays for the next sandbox.
      await litterbox.delete('one', { force: true });
      expect(readdirSync(bases).filter((name) => existsSync(join(bases, name, 'src/a.txt')))).toHaveLength(1);
    },
    FILES,
  );

  attack(
    'AX75: nothing outside of the working tree comes along, by links, by dots or by the configuration of a repository',
    async (fixture) => {
      const { scratch } = fixture;
      const directory = hidden(fixture);
      symlinkSync(directory, join(scratch.repository, 'out'));
      symlinkSync(directory, join(scratch.repository, 'tracked'));
      mkdirSync(join(scratch.repository, 'built'));
      symlinkSync(directory, join(scratch.repository, 'built/link'));
      scratch.git('add', 'tracked');
      scratch.git('commit', '-qm', 'a link');
      fixture.acceptRepository();
      const litterbox = fixture.open();
      for (const [path, code] of [
        ['out/deep', 'PATH_OUTSIDE_WORKDIR'],
        ['built/link/deep/letter', 'PATH_OUTSIDE_WORKDIR'],
        ['tracked/deep', 'CONFLICT'],
        ['../private', 'INVALID_ARGUMENT'],
        [directory, 'INVALID_ARGUMENT'],
        ['.git', 'INVALID_ARGUMENT'],
        ['.GIT/config', 'INVALID_ARGUMENT'],
        ['.litterbox/worktrees', 'INVALID_ARGUMENT'],
      ] as const)
        await expect(litterbox.create({ name: 'refused', include: [path] })).rejects.toMatchObject({ code });
      const links = await insideWith(fixture, 'links', ['out', 'built']);
      expect(links).toContain('./built/link\n./out\n');
      expect(links).not.toContain('private\n');
      // The same files, where they are the working tree's own.
      execFileSync('cp', ['-r', directory, join(scratch.repository, 'vendor')]);
      const control = await insideWith(fixture, 'control', ['vendor']);
      positiveControl('a directory of the working tree', control, (text) => text.includes('private\n'));
      rmSync(join(scratch.repository, 'vendor'), { recursive: true });
      // A repository cannot name them for its person.
      writeFileSync(join(scratch.repository, '.litterbox.toml'), 'include = ["built"]\n');
      expect(commandLine(fixture, ['create', 'untrusted'])).toMatchObject({
        code: expect.any(Number),
        stderr: expect.stringContaining('include = ["built"]'),
      });
      writeFileSync(join(scratch.repository, '.litterbox.toml'), 'include = ["../private"]\n');
      expect(commandLine(fixture, ['create', 'untrusted']).stderr).toContain('include');
      rmSync(join(scratch.repository, '.litterbox.toml'));
      expect((await litterbox.list()).map(({ name }) => name).sort()).toEqual(['control', 'links']);
    },
    FILES,
  );

  attack(
    'AX76: a directory that becomes a link while it is copied gives nothing of where the link leads',
    async (fixture) => {
      const { scratch } = fixture;
      const directory = hidden(fixture);
      const place = join(scratch.repository, 'built/deep');
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'letter'), 'mine\n');
      for (let number = 0; number < 300; number++) writeFileSync(join(scratch.repository, 'built', `f${number}`), '');
      // Two names that change places again and again, without a moment in which there is neither.
      symlinkSync(join(directory, 'deep'), join(scratch.repository, 'built/other'));
      const swapping = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(open('deep/letter').read() or '', end='', flush=True)
while True:
    libc.renameat2(-100, b'deep', -100, b'other', 2)
`;
      const swapper = spawn('python3', ['-c', swapping], {
        cwd: join(scratch.repository, 'built'),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await new Promise((resolve) => swapper.stdout.once('data', resolve));
        const followed = () =>
          execFileSync('sh', ['-c', 'for n in $(seq 300); do cat deep/letter; done | sort -u'], {
            cwd: join(scratch.repository, 'built'),
            encoding: 'utf8',
          });
        positiveControl('who follows the name', followed(), (text) => text.includes('private'));
        let refused = 0;
        for (let number = 0; number < 3; number++) {
          const text = await insideWith(fixture, `n${number}`, ['built']).catch((error: { code?: string }) => {
            expect(error.code).toMatch(/^(CONFLICT|UNAVAILABLE)$/);
            refused += 1;
            return '';
          });
          expect(text).not.toContain('private\n');
        }
        expect(refused).toBeGreaterThan(0); // what changes all the time is not taken for whole
      } finally {
        swapper.kill('SIGKILL');
        await new Promise((resolve) => swapper.once('close', resolve));
      }
      if (lstatSync(place).isSymbolicLink()) renameSync(join(scratch.repository, 'built/other'), `${place}.mine`);
      fixture.acceptRepository();
    },
    FILES,
  );

  attack(
    'AX77: what lives in a directory that comes along stays behind, and nothing of it runs or is written back',
    async (fixture) => {
      const { scratch, marks } = fixture;
      const vendor = join(scratch.repository, 'vendor');
      mkdirSync(join(vendor, 'src'), { recursive: true });
      execFileSync(
        'sh',
        [
          '-c',
          'mkfifo fifo; perl -MIO::Socket::UNIX -e "IO::Socket::UNIX->new(Local => q(socket), Listen => 1) or die"',
        ],
        { cwd: vendor },
      );
      // To the overlay a character device without a number is a file that is gone.
      if (process.getuid?.() === 0) execFileSync('mknod', ['device', 'c', '0', '0'], { cwd: vendor });
      writeFileSync(join(vendor, 'program'), '#!/bin/sh\n', { mode: 0o755 });
      execFileSync('chmod', ['6755', join(vendor, 'program')]);
      writeFileSync(join(vendor, 'src/file'), 'whole\n');
      linkSync(join(vendor, 'src/file'), join(vendor, 'src/same'));
      execFileSync('git', ['init', '-q', join(vendor, 'nested')]);
      execFileSync('git', ['-C', join(vendor, 'nested'), 'config', 'core.fsmonitor', marks.touch('fsmonitor')]);
      positiveControl(
        'fsmonitor in that repository',
        execFileSync('git', ['-C', join(vendor, 'nested'), 'status', '-s']),
        () => marks.found().length > 0,
      );
      marks.clear();
      fixture.acceptRepository();
      const sandbox = await fixture.open().create({ name: 'box', include: ['vendor'] });
      const look = 'find vendor ! -type f ! -type d ! -type l; find vendor -perm /6000; ls vendor; cat vendor/src/same';
      const { stdout } = await fixture.run(sandbox, look);
      expect(stdout).toBe('nested\nprogram\nsrc\nwhole\n');
      await fixture.run(
        sandbox,
        'echo changed >vendor/src/file; echo evil >vendor/nested/.git/hooks/post-checkout; echo w >work',
      );
      expect(readFileSync(join(vendor, 'src/file'), 'utf8')).toBe('whole\n');
      expect(existsSync(join(vendor, 'nested/.git/hooks/post-checkout'))).toBe(false);
      const changed = await fixture.open().changes('box');
      expect(changed.map(({ path }) => path)).toEqual(['work']);
    },
    FILES,
  );
});
