import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect } from '@jest/globals';
import { type AttackFixture, fakeInternet, onTheHost, positiveControl } from '../../src/index.ts';
import { commandLine } from './command-line.ts';

/**
 * `perl say.pl ADDRESS HEX [HEX]`: says the first to what listens at ADDRESS, and where the answer is 200 the second. Prints the
 * first line of the answer, and what comes after its head within two seconds.
 */
const SAY = `use IO::Socket::IP; use IO::Select; my ($at, $first, $then) = @ARGV; $| = 1;
my ($host, $port) = $at =~ /^(.*):(\\d+)$/;
my $s = IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Timeout => 2) or print("nothing listens\\n"), exit;
local $SIG{PIPE} = 'IGNORE'; my $select = IO::Select->new($s); my ($text, $more) = ('', '');
my $read = sub { $select->can_read(2) && sysread($s, $_[0], 65536, length $_[0]) };
syswrite $s, pack('H*', $first);
while ($text !~ /\\r\\n\\r\\n/s and $read->($text)) {}
my ($line) = $text =~ /^([^\\r\\n]*)/; print "$line\\n";
exit unless defined $then and $line =~ / 200 /;
for my $piece (split /,/, $then) { syswrite $s, pack('H*', $piece); select undef, undef, undef, 0.02 }
1 while $read->($more); print "after: $more\\n";
`;

/** What programs of a machine with this page of names find: one server of the Internet, and what only pretends to be one. */
const HOSTS = `127.0.0.1 localhost
1.1.1.1 allowed.test other.test
8.8.8.8 evil.test allowed.test.evil.test evil-allowed.test
169.254.169.254 metadata.test
10.99.0.1 neighbour.test
10.99.0.2 myself.test
127.0.0.1 home.test
100.64.0.1 carrier.test
fd99::1 local6.test
fe80::1 link6.test
::1 home6.test
0.0.0.0 zero.test
64:ff9b::a9fe:a9fe nat64.test
2002:a9fe:a9fe::1 tunnel.test
1.1.1.1 mixed.test
169.254.169.254 mixed.test
9.9.9.77 street.test
2a02:8108:1:2::99 street6.test
168.63.129.16 azure.test
64:ff9b::909:94d translated.test
${Array.from({ length: 80 }, (_, index) => `1.1.1.1 n${index}.wild.test`).join('\n')}
`;

/** Of the names that only pretend to be of the Internet, the first labels. */
export const PRIVATE = 'metadata neighbour myself home carrier local6 link6 home6 zero nat64 tunnel mixed'.split(' ');

/** Of names with addresses of the Internet that may be those of a neighbour, the first labels. */
export const NEIGHBOURS = ['street', 'street6', 'translated', 'azure'];

const CONFIG = `[network]
run = "allow-list"
allow = ["allowed.test", "*.wild.test", ${NEIGHBOURS.map((name) => `"${name}.test"`).join(', ')}, ${PRIVATE.map((name) => `"${name}.test"`).join(', ')}]
`;

/** All of the names that only pretend, as those of a private network. */
export const PRIVATE_CONFIG = `[network]
run = "allow-list"
allow-private = [${PRIVATE.map((name) => `"${name}.test"`).join(', ')}]
`;

/** A request, and what follows when the way is open, in pieces. */
export type Saying = readonly [first: string | Buffer, then?: readonly Buffer[] | undefined];

/** A machine whose network is a fake internet, with the sandbox `a` on it. */
export interface GateMachine extends AsyncDisposable {
  /** Changes the machine's network as `ip` does. */
  ip(...args: readonly string[]): void;
  litterbox(...args: readonly string[]): { readonly code: number; readonly stdout: string; readonly stderr: string };
  /** What `say.pl` prints inside `a`. */
  say(first: Saying[0], then?: Saying[1], sandbox?: string): string;
  /** One after the other. */
  sayAll(sayings: readonly Saying[], sandbox?: string): readonly string[];
  /** Frames since the last look that are not for the server that is allowed. */
  strays(): Promise<readonly string[]>;
  frames(): Promise<readonly string[]>;
}

/** As `say.pl` takes bytes. */
export const hex = (bytes: string | Buffer) => Buffer.from(bytes as string, 'latin1').toString('hex');
/** The request for a connection to HOST:PORT. */
export const connect = (host: string) => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

export async function gateMachine(fixture: AttackFixture): Promise<GateMachine> {
  const internet = await fakeInternet();
  const pages = mkdtempSync(join(tmpdir(), 'litterbox-pages-'));
  const page = (name: string, text: string) => {
    const path = join(pages, name);
    writeFileSync(path, text);
    chmodSync(path, 0o644);
    return path;
  };
  const [hosts, resolver] = [
    page('hosts', HOSTS),
    page('resolv.conf', 'nameserver 8.8.8.8\noptions timeout:1 attempts:1\n'),
  ];
  const mounted = 'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
  const enter = (argv: readonly string[]) =>
    internet.enter(['unshare', '--mount', 'sh', '-c', mounted, hosts, resolver, ...argv]);
  const litterbox = (...args: readonly string[]) => commandLine(fixture, args, { prefix: enter(['env']) });
  const control = onTheHost(
    enter(['sh', '-c', 'getent ahostsv4 allowed.test; bash -c "exec 3<>/dev/tcp/evil.test/443; head -c 15 <&3"']),
  );
  positiveControl(
    'the fake internet',
    control.stdout,
    (text) => text.includes('1.1.1.1') && text.includes('HTTP/1.0 200 OK'),
  );
  expect(litterbox('trust', '--yes').code).toBe(0);
  const made = litterbox('create', 'a');
  expect({ code: made.code, stderrIncludes: made.stderr.includes('network is not open') }).toEqual({
    code: 0,
    stderrIncludes: false,
  });
  let seen = (await internet.heard()).length;
  const frames = async () => {
    const all = await internet.heard();
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh;
  };
  const sayAll = (sayings: readonly Saying[], sandbox = 'a') => {
    const script = sayings.map(([first, then]) => {
      const words = [hex(first), ...(then ? [then.map(hex).join(',')] : [])];
      return `perl say.pl 127.0.0.1:3128 ${words.join(' ')}; echo ==`;
    });
    const { code, stdout } = litterbox('run', sandbox, '--', 'sh', '-c', script.join('\n'));
    expect(code).toBe(0);
    return stdout.split('==\n').slice(0, -1);
  };
  return {
    ip: (...args) => expect(onTheHost(internet.enter(['ip', ...args])).code).toBe(0),
    litterbox,
    say: (first, then, sandbox = 'a') => sayAll([[first, then]], sandbox)[0] ?? '',
    sayAll,
    frames,
    async strays() {
      return (await frames()).filter((frame) => !/^ip6 10\.99\.0\.2:\d+ > 1\.1\.1\.1:443$/.test(frame));
    },
    async [Symbol.asyncDispose]() {
      litterbox('delete', 'a', '--force');
      await internet[Symbol.asyncDispose]();
      rmSync(pages, { recursive: true });
    },
  };
}

/** The first bytes of Node's own TLS. */
export async function hello(servername?: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1', ...(servername !== undefined && { servername }) });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return bytes;
}

/** What a sandbox needs for {@link gateMachine}: `say.pl`, and the list. */
export const GATE_FILES = { 'say.pl': SAY, '.litterbox.toml': CONFIG };
/** How the answer begins when the way is open. */
export const ESTABLISHED = 'HTTP/1.1 200 Connection established';
