// Sandboxes that stand on the person's working tree itself: what an agent could change of it, read of it, or blame on the person.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, canary, inPlainBubblewrap, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

const FILES = {
  'src/a.txt': 'a\n',
  'src/b.txt': 'b\n',
  '.gitignore': 'node_modules/\n.env*\n*.pem\nlive/\n',
  'tests/case.txt': 'case\n',
};

/** All that can be done to the files below the current directory, by every way that leads to them. */
const DESTROY = `for f in $(find . -name .git -prune -o -type f -print); do
exec 3<"$f"; echo x >>"$f"; echo x >/proc/self/fd/3; echo x >/proc/self/cwd/"$f"; truncate -s 1 "$f"
perl -e 'open my $f, "+<", $ARGV[0] or exit; syswrite $f, "written"; truncate $f, 3' "$f"
chmod 777 "$f"; touch -d @1 "$f"; ln "$f" "$f.hard"; setfattr -n user.x -v y "$f"; cp "$f" "$f.new"; mv "$f.new" "$f"
done
for d in /proc/1/root /proc/1/cwd /proc/self/root; do echo x >"$d$PWD/by-proc"; done
mkdir -p src/new; mv src moved; rm -rf node_modules tests
:`;
/** In sandboxes alone: a mount that succeeds on the machine is the machine's. */
const MOUNT = 'mount -o remount,rw .; unshare -Ur mount -o remount,bind,rw .; chattr +i .gitignore; :';

/** Everything of a tree without its `.git` that its owner could notice, a line each. */
function noticed(root: string): readonly string[] {
  const found: string[] = [];
  const visit = (path: string) => {
    const { mode, uid, gid, mtimeMs, ctimeMs, ino, size } = lstatSync(join(root, path));
    found.push([path, mode.toString(8), uid, gid, mtimeMs, ctimeMs, ino, size].join(' '));
    if ((mode & 0o170000) === 0o040000)
      for (const name of readdirSync(join(root, path))) if (name !== '.git') visit(join(path, name));
  };
  visit('');
  return found;
}

/** A repository with dependencies that git ignores, as a person has it. */
function furnished({ scratch }: AttackFixture): string {
  scratch.file('node_modules/dep/index.js', 'module.exports = 1;\n');
  return scratch.repository;
}

describe('the live working tree', () => {
  attack(
    'AX80: nothing that an agent does to its files reaches those of the person',
    async (fixture) => {
      const tree = furnished(fixture);
      fixture.acceptRepository();
      const copy = join(fixture.scratch.directory, 'copy');
      cpSync(tree, copy, { recursive: true });
      const untouched = noticed(copy);
      // The rest of the machine is read-only for it.
      const walls = ['--ro-bind', '/', '/', '--bind', copy, copy, '--unshare-all', '--proc', '/proc', '--chdir', copy];
      onTheHost(['bwrap', ...walls, 'sh', '-c', DESTROY]);
      positiveControl('the payload in a copy', noticed(copy).join('\n'), (after) => after !== untouched.join('\n'));
      const before = noticed(tree);
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a', lower: 'live' });
      positiveControl(
        'the live tree',
        (await fixture.run(sandbox, 'cat node_modules/dep/index.js')).stdout,
        (text) => text === 'module.exports = 1;\n',
      );
      const { stdout } = await fixture.run(sandbox, `${DESTROY}\n${MOUNT}\nls -A`);
      expect(stdout.trim().split('\n').sort()).toEqual(expect.arrayContaining(['.gitignore', 'moved']));
      expect(stdout).not.toMatch(/node_modules|tests/);
      expect(noticed(tree)).toEqual(before);
      await litterbox.delete('a', { force: true });
      expect(noticed(tree)).toEqual(before);
    },
    FILES,
  );

  attack(
    'AX81: neither its .git nor what looks like a secret is read by any path',
    async (fixture) => {
      const tree = furnished(fixture);
      const secrets = ['node_modules/dep/.env.local', 'app/.ssh/id_ed25519', 'app/tls.pem', 'app/deep/er/.env'];
      const marks = secrets.map((path) => {
        const secret = canary(path);
        fixture.scratch.file(path, `-----BEGIN PRIVATE KEY-----\n${secret.secret}\n`);
        return secret;
      });
      fixture.scratch.file('.gitignore', `${FILES['.gitignore']}app/\n`);
      fixture.scratch.file('tests/.env', 'EXAMPLE=1\n');
      fixture.scratch.git('add', '-f', 'tests/.env');
      fixture.scratch.git('commit', '-q', '-m', 'two');
      fixture.acceptRepository();
      const read = `cd ${tree}; cat .env .git/config ${secrets.join(' ')} .git/../.env ./app/../.env src/../.git/HEAD; find . -name '.env*' -o -name '.git' -o -name '*.pem' -o -name 'id_*'; grep -rs . . `;
      const control = inPlainBubblewrap(read).stdout;
      positiveControl('the same words without a sandbox', control, (text) =>
        marks.every(({ secret }) => text.includes(secret)),
      );
      const sandbox = await fixture.open().create({ name: 'a', lower: 'live' });
      const { stdout } = await fixture.run(sandbox, `${read}; cat /proc/*/root${tree}/.env /proc/*/cwd/.git/config`);
      for (const { secret } of marks) expect(stdout).not.toContain(secret);
      expect(stdout).toContain('module.exports = 1;');
      expect(stdout).toContain('EXAMPLE=1');
      const found = stdout
        .split('\n')
        .filter((line) => /^\.\/[^:]*(\/\.env[^:]*|\/\.git|\.pem|\/id_[^:]*)$/.test(line));
      expect(found).toEqual(['./tests/.env']);
    },
    FILES,
  );

  attack(
    'AX103: secrets of the live tree are hidden by names in any case, by copies, by places, by contents and behind links',
    async (fixture) => {
      const tree = furnished(fixture);
      const filler = '-----BEGIN CERTIFICATE-----\n'.repeat(3000);
      const begins: Readonly<Record<string, string>> = {
        'app/.ENV': '',
        'app/.Env.local': '',
        'app/.env~': '',
        'app/ID_RSA': '',
        'app/id_ed25519.bak': '',
        'app/me.ppk': '',
        'app/credentials': '',
        'app/.cargo/credentials': '',
        'app/gh/hosts.yml': '',
        'app/.docker/config.json': '',
        'app/config/credentials/production.key': '',
        'app/terraform.tfvars': '',
        'app/chain.pem': `${filler}-----BEGIN PRIVATE KEY-----\n`,
        'app/deploykey': '-----BEGIN OPENSSH PRIVATE KEY-----\n',
        'app/.yarnrc.yml': 'npmAuthToken: 0123456789abcdef\n# ',
        'app/settings.ini': 'url = https://deploy:correct-horse@git.acme.dev/\n# ',
        'app/held': '', // by a link of such a name alone
      };
      const marks = Object.entries(begins).map(([path, begin]) => {
        const secret = canary(path);
        fixture.scratch.file(path, `${begin}${secret.secret}\n`);
        return secret;
      });
      symlinkSync('../held', join(tree, 'app/config/.env'));
      fixture.scratch.file('app/.env.example', 'NAMES=1\n');
      fixture.scratch.file('app/ca.pem', filler);
      fixture.scratch.file('node_modules/dep/test/key.pem.txt', '-----BEGIN PRIVATE KEY-----\n');
      fixture.scratch.file('.gitignore', `${FILES['.gitignore']}app/\n`);
      fixture.scratch.git('commit', '-q', '-a', '-m', 'two');
      fixture.acceptRepository();
      const read = `cd ${tree}; find app node_modules -type f -exec cat {} +; cat app/config/.env`;
      positiveControl('the same words without a sandbox', inPlainBubblewrap(read).stdout, (text) =>
        marks.every(({ secret }) => text.includes(secret)),
      );
      const sandbox = await fixture.open().create({ name: 'a', lower: 'live' });
      const { stdout } = await fixture.run(sandbox, `${read}; find app -type f | LC_ALL=C sort`);
      expect(marks.filter(({ secret }) => stdout.includes(secret)).map(({ place }) => place)).toEqual([]);
      expect(stdout).toContain('NAMES=1');
      // What a program of others needs is there, and so is what is for everybody.
      expect(stdout).toContain('BEGIN PRIVATE KEY');
      expect(stdout.split('\n').filter((line) => line.startsWith('app/'))).toEqual(['app/.env.example', 'app/ca.pem']);
    },
    FILES,
  );

  attack(
    'AX81: a secret that git does not ignore is refused before anything holds it',
    async (fixture) => {
      await expect(fixture.open().create({ name: 'a', lower: 'live' })).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
      });
    },
    { 'src/a.txt': 'a\n' },
  );

  attack(
    'AX82: sockets, FIFOs and locks of the person in it are not reached',
    async (fixture) => {
      const tree = furnished(fixture);
      fixture.acceptRepository();
      const place = join(tree, 'live');
      mkdirSync(place);
      const holder = spawn(
        '/usr/bin/perl',
        [
          '-e',
          `use Socket; use Fcntl ':flock'; use POSIX (); $| = 1; umask 0; chdir $ARGV[0] or die;
socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("socket")) or die $!; listen($s, 9);
POSIX::mkfifo("fifo", 0666); open(my $f, '+<', "fifo"); open(my $l, '>', "lock"); flock($l, LOCK_EX) or die $!;
print "ready\\n"; sleep 1 while getppid() != 1;`,
          place,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: '/usr/bin:/bin' } },
      );
      fixture.defer(async () => {
        holder.kill('SIGKILL');
        if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit');
        rmSync(place, { recursive: true, force: true });
      });
      await once(holder.stdout, 'data');
      const reach = `perl -e 'use Socket; use Fcntl qw(:flock O_WRONLY O_NONBLOCK O_RDONLY);
socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, pack_sockaddr_un("live/socket")) ? "reached\\n" : "apart\\n";
print sysopen(my $f, "live/fifo", O_WRONLY | O_NONBLOCK) ? "reached\\n" : "apart\\n";
sysopen(my $l, "live/lock", O_RDONLY); print flock($l, LOCK_EX | LOCK_NB) ? "apart\\n" : "reached\\n"'`;
      const control = onTheHost(['sh', '-c', `cd ${tree} && ${reach}`]).stdout;
      positiveControl('the same program on the host', control, (text) => text === 'reached\n'.repeat(3));
      const sandbox = await fixture.open().create({ name: 'a', lower: 'live' });
      expect((await fixture.run(sandbox, reach)).stdout).toBe('apart\n'.repeat(3));
      rmSync(place, { recursive: true, force: true });
    },
    { ...FILES },
  );

  attack(
    'AX83: what the person deletes or edits meanwhile is not in the work of the agent, and not lost by a merge',
    async (fixture) => {
      const tree = furnished(fixture);
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a', lower: 'live' });
      const running = fixture.run(sandbox, 'echo begun; echo more >>src/a.txt', {
        onOutput: () => {
          rmSync(join(tree, 'src/b.txt'), { force: true });
          writeFileSync(join(tree, 'tests/case.txt'), 'edited\n');
        },
      });
      await expect(running).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
      const diff = await sandbox.diff();
      expect(diff.match(/^diff .*$/gm)).toEqual(['diff --git a/src/a.txt b/src/a.txt']);
      expect(diff).toMatch(/^\+more$/m);
      await expect(fixture.run(sandbox, 'true')).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
      await litterbox.merge('a');
      expect(readdirSync(join(tree, 'src'))).toEqual(['a.txt']);
      const left = onTheHost(['cat', join(tree, 'tests/case.txt'), join(tree, 'src/a.txt')]).stdout;
      expect(left).toBe('edited\na\nmore\n');
      fixture.acceptRepository();
    },
    FILES,
  );
});
