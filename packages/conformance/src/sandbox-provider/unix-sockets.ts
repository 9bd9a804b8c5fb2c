import assert from 'node:assert/strict';
import type { Check } from './suite.ts';

/** Sockets between the processes of one sandbox, and none that leads out of it. */
export function unixSockets(check: Check): void {
  check('processes of one sandbox talk over Unix sockets, by a path, an abstract name or in pairs', async (fixture) => {
    const { shared, sh } = fixture;
    const runtime = await shared();
    if ((await sh(runtime, 'command -v perl')).exit.code !== 0) return; // nothing there could make a socket
    const { stdout, stderr } = await sh(runtime, '', { argv: ['perl', '-e', TALKS] });
    assert.equal(
      stdout,
      ['/tmp/s', '/dev/shm/s', '/src/s', '/home/agent/s', '/playground/s', '@kit', 'pair']
        .flatMap((place) => TYPES.map((type) => `${place} ${type} heard\n`))
        .join(''),
      stderr,
    );
  });

  check('what listens, forks and shares inside: node and python3, where they are', async ({ shared, sh }) => {
    const runtime = await shared();
    for (const [program, script] of Object.entries(PROGRAMS)) {
      if ((await sh(runtime, `command -v ${program} && ${program} --version`)).exit.code !== 0) continue;
      const { stdout, stderr } = await sh(runtime, '', { argv: [program, script.flag, script.text] });
      assert.equal(stdout, 'ok\n', stderr);
    }
  });

  check('no descriptor of a program is a socket, however it was started', async ({ shared, sh }) => {
    const runtime = await shared();
    const look = 'for n in 0 1 2 3 4 5 6 7 8 9; do if [ -S /proc/self/fd/$n ]; then echo "$n is a socket"; fi; done';
    for (const changes of [{}, { stdin: 'pipe' } as const]) {
      const { stdout } = await sh(runtime, `${look}; (exec <&-; [ ! -e /proc/self/fd/0 ] && echo looked)`, changes);
      assert.equal(stdout, 'looked\n');
    }
  });

  check('sockets that are left behind hinder no scan, stop, start or removal', async (fixture) => {
    const { create, provider, sh } = fixture;
    const runtime = await create();
    if ((await sh(runtime, 'command -v perl')).exit.code !== 0) return; // nothing there could make a socket
    const leave = `perl -MSocket -e 'for (@ARGV) { socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($_)) or die $!; listen($s, 1) }' left dir/left ~/left "$LITTERBOX_PLAYGROUND/left" && echo file >file && [ -S left ] && echo left`;
    assert.equal((await sh(runtime, leave)).stdout, 'left\n');
    const changed: string[] = [];
    for await (const { path } of (await runtime.scan(undefined)).changes) if (path.includes('file')) changed.push(path);
    assert.deepEqual(changed, ['file']);
    await runtime.stop();
    await runtime.start();
    assert.equal((await sh(runtime, 'rm left dir/left && cat file')).stdout, 'file\n');
    await runtime[Symbol.asyncDispose]();
    await provider.remove(runtime.id);
  });
}

const TYPES = ['stream', 'datagram', 'sequenced'];

/** One process listens, its child sends; where a socket is a pair, there is nobody to listen. */
const TALKS = `use strict; use Socket; my @types = (SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET); my @names = qw(${TYPES.join(' ')}); $| = 1;
for my $place ('/tmp/s', '/dev/shm/s', '/src/s', '/home/agent/s', '/playground/s', '@kit') { for my $n (0 .. 2) {
(my $name = $place) =~ s/^@/\\0/; my $address = pack_sockaddr_un($name); my $type = $types[$n];
socket(my $server, AF_UNIX, $type, 0) or die "$place socket: $!"; bind($server, $address) or die "$place bind: $!"; if ($type != SOCK_DGRAM) { listen($server, 1) or die $! }
my $child = fork() // die $!;
if (!$child) { socket(my $client, AF_UNIX, $type, 0) or die $!; connect($client, $address) or die "$place connect: $!"; send($client, 'heard', 0) or die $!; exit 0 }
my $from = $server; if ($type != SOCK_DGRAM) { accept(my $one, $server) or die $!; $from = $one }
recv($from, my $got, 9, 0); waitpid $child, 0; print "$place $names[$n] $got\\n"; unlink $place } }
for my $n (0 .. 2) { socketpair(my $a, my $b, AF_UNIX, $types[$n], 0) or die "pair: $!"; send($a, 'heard', 0); recv($b, my $got, 9, 0); print "pair $names[$n] $got\\n" }`;

/** What build tools do: a server at a path, a server of forks, an object that processes share. */
const PROGRAMS: Readonly<Record<string, { readonly flag: string; readonly text: string }>> = {
  node: {
    flag: '-e',
    text: 'const net = require("net"); const server = net.createServer((one) => one.end("ok\\n")).listen("/tmp/kit-node.sock", () => net.connect("/tmp/kit-node.sock").on("close", () => server.close()).pipe(process.stdout))',
  },
  python3: {
    flag: '-c',
    text: `import multiprocessing as m
m.set_start_method("forkserver")
shared = m.Manager().dict()
one = m.Process(target=shared.update, args=({"word": "ok"},)); one.start(); one.join()
print(shared["word"])`,
  },
};
