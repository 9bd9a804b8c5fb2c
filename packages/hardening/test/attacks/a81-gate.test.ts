// The way out by a list: on a machine whose network is a fake internet that hears every frame.
import { describe, expect } from '@jest/globals';
import { positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import {
  connect,
  ESTABLISHED,
  GATE_FILES,
  gateMachine,
  hello,
  hex,
  NEIGHBOURS,
  PRIVATE,
  PRIVATE_CONFIG,
} from './gate-machine.ts';

if (process.getuid?.() === 0) {
  describe('the way out by a list', () => {
    attack(
      'A81: no reading of a request reaches what no rule allows, and nothing is asked for a name',
      async (fixture) => {
        await using place = await gateMachine(fixture);
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
      GATE_FILES,
    );

    attack(
      'A82: a name that leads into this machine or its network is not dialled, nor is any other address of it',
      async (fixture) => {
        await using place = await gateMachine(fixture);
        const sayings = await Promise.all(
          PRIVATE.map(async (name) => [connect(`${name}.test:443`), [await hello(`${name}.test`)]] as const),
        );
        const refused = place.sayAll(sayings).map((answer) => /^HTTP\/1\.1 (403|502) /.test(answer));
        expect(refused).toEqual(PRIVATE.map(() => true));
        expect(await place.frames()).toEqual([]);
      },
      GATE_FILES,
    );

    attack(
      'AX71: hosts of a private network are what a trusted file names, and never this machine or what a cloud serves it by',
      async (fixture) => {
        await using place = await gateMachine(fixture);
        const sayings = await Promise.all(
          PRIVATE.map(async (name) => [connect(`${name}.test:443`), [await hello(`${name}.test`)]] as const),
        );
        const { scratch } = fixture;
        // An agent's own file is nobody's configuration.
        const own = `printf '[network]\\nrun = "allow-list"\\nallow-private = ["neighbour.test"]\\n' >.litterbox.toml`;
        expect(place.litterbox('run', 'a', '--', 'sh', '-c', own).code).toBe(0);
        expect(place.sayAll(sayings).filter((answer) => answer.includes(' 200 '))).toEqual([]);
        // The repository's is, once a person agreed to it.
        scratch.file('.litterbox.toml', PRIVATE_CONFIG);
        fixture.acceptRepository();
        const refused = place.litterbox('create', 'b');
        expect({ code: refused.code, isTold: refused.stderr.includes('network.allow-private') }).toEqual({
          code: 4,
          isTold: true,
        });
        expect(await place.frames()).toEqual([]);
        expect(place.litterbox('trust', '--yes').code).toBe(0);
        expect(place.litterbox('create', 'b').code).toBe(0);
        place.sayAll(sayings, 'b');
        const frames = (await place.frames()).join('\n');
        positiveControl('a neighbour', frames, (text) => text.includes('10.99.0.1'));
        const dialled = ['169.254.169.254', '10.99.0.2:443', '127.0.0.1', '1.1.1.1', 'a9fe:a9fe', 'fe80::1.443'];
        expect(dialled.filter((address) => frames.includes(`> ${address}`))).toEqual([]);
        place.litterbox('delete', 'b', '--force');
      },
      GATE_FILES,
    );

    attack(
      "AX30: a neighbour with an address of the Internet is this machine's network, and not dialled",
      async (fixture) => {
        await using place = await gateMachine(fixture);
        const ask = async () => place.sayAll(NEIGHBOURS.map((name) => [connect(`${name}.test:443`)]));
        await ask();
        // Positive control: anywhere else they are hosts like others. What Azure serves its machines by is never one.
        const dialled = (await place.frames()).join('\n');
        expect({
          firstDialledIncludes: dialled.includes('9.9.9.77:443'),
          secondDialledIncludes: dialled.includes('168.63.129.16'),
        }).toEqual({ firstDialledIncludes: true, secondDialledIncludes: false });
        place.ip('address', 'add', '9.9.9.2/24', 'dev', 'eth0');
        // As from a server of addresses: its own is one alone, the network is a route.
        place.ip('address', 'add', '2a02:8108:1:2::2/128', 'dev', 'eth0', 'nodad');
        place.ip('-6', 'route', 'add', '2a02:8108:1:2::/64', 'dev', 'eth0');
        expect((await ask()).map((answer) => answer.slice(0, 12))).toEqual(NEIGHBOURS.map(() => 'HTTP/1.1 403'));
        expect((await place.frames()).filter((frame) => frame.includes('443'))).toEqual([]);
      },
      GATE_FILES,
    );

    attack(
      'A83: the TLS inside is for the name that was asked for, or nothing of it gets out',
      async (fixture) => {
        await using place = await gateMachine(fixture);
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
      GATE_FILES,
    );

    attack(
      'A85: a relay inside, another sandbox and programs without the variables get no further',
      async (fixture) => {
        await using place = await gateMachine(fixture);
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
        fixture.scratch.file('.litterbox.toml', '');
        expect(place.litterbox('create', 'b').code).toBe(0);
        expect(place.say(connect('allowed.test:443'), undefined, 'b')).toBe('nothing listens\n');
        expect(await place.frames()).toEqual([]);
        place.litterbox('delete', 'b', '--force');
        fixture.acceptRepository();
      },
      GATE_FILES,
    );

    attack(
      'A86, A87: every connection is written down, names below a wildcard are counted, and no other name is asked for',
      async (fixture) => {
        await using place = await gateMachine(fixture);
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
      GATE_FILES,
    );
  });
}
