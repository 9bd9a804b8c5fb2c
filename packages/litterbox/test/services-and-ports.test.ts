import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** A server of a few lines: says its name, and with `--fork` goes into the background. */
const SERVER = `use IO::Socket::IP; $| = 1; $SIG{CHLD} = 'IGNORE';
my ($address, $port, $name) = @ARGV;
$SIG{HUP} = sub { $name = 'reloaded'; print "reloaded\\n" };
my $server = IO::Socket::IP->new(LocalHost => $address, LocalPort => $port, Listen => 128, ReuseAddr => 1) or die $@;
print "listening on $port\\n";
for (;;) { my $one = $server->accept or next; print $one "hello from $name\\n"; close $one; }
`;

async function told(port: number, host = '127.0.0.1'): Promise<string> {
  const socket = connect({ host, port });
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', (error: NodeJS.ErrnoException) => (text += `[${error.code}]`));
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

async function trusted(litterbox: Litterbox): Promise<Litterbox> {
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  return litterbox;
}

/** The servers of these tests are Perl, which the smallest image does not have. */
const withConfig = (config: string) =>
  new LibraryFixture({
    'server.pl': SERVER,
    '.litterbox.toml': PROVIDER === 'overlayfs' ? config : `[container]\nbase-image = "debian:bookworm"\n${config}`,
  });

describe('ports', () => {
  it('lead from 127.0.0.1 and ::1 into each sandbox its own, by variables, while nothing leads out', async () => {
    await using fixture = withConfig('[container.ports]\nweb = 8080\nown = {}\n');
    const litterbox = await trusted(fixture.open());
    const [one, two] = [await litterbox.create({ name: 'one' }), await litterbox.create({ name: 'two' })];
    const numbers: number[] = [];
    for (const sandbox of [one, two]) {
      const ports = await sandbox.ports();
      expect(ports).toMatchObject([
        { name: 'web', inside: 8080, answers: false },
        { name: 'own', inside: expect.any(Number), answers: false },
      ]);
      const outside = ports.map((port) => port.outside);
      numbers.push(...outside);
      const { stdout } = await sandbox.run(
        'echo $LITTERBOX_PORT_WEB $LITTERBOX_FWD_PORT_WEB $LITTERBOX_PORT_OWN $LITTERBOX_FWD_PORT_OWN',
      );
      expect(stdout).toBe(`8080 ${outside[0]} ${ports[1]?.inside} ${outside[1]}\n`);
      await sandbox.run(`perl server.pl 127.0.0.1 8080 ${sandbox.name} >/playground/log 2>&1 &
perl server.pl ::1 $LITTERBOX_PORT_OWN six-${sandbox.name} >/playground/log6 2>&1 &
until grep -q listening /playground/log && grep -q listening /playground/log6; do sleep 0.05; done`);
    }
    expect(new Set(numbers).size).toBe(4);
    const [web1 = 0, own1 = 0, web2 = 0] = numbers;
    expect(await told(web1)).toBe('hello from one\n');
    expect(await told(web1, '::1')).toBe('hello from one\n');
    expect(await told(own1)).toBe('hello from six-one\n');
    expect(await told(web2)).toBe('hello from two\n');
    // What is open inwards opens nothing outwards.
    const outside = createServer((socket) => socket.end('outside\n')).listen(0, '127.0.0.1');
    await once(outside, 'listening');
    const { port } = outside.address() as { port: number };
    try {
      expect(await told(port)).toBe('outside\n'); // positive control
      const reach = (target: string) =>
        `perl -MIO::Socket::IP -e '$s = IO::Socket::IP->new(PeerHost => "${target}", PeerPort => $ARGV[0], Timeout => 2) or die "no: $!\\n"; print <$s>' `;
      expect((await one.run(`${reach('127.0.0.1')} 8080`)).stdout).toBe('hello from one\n'); // positive control
      expect((await one.run(`${reach('127.0.0.1')} ${port}`)).stderr).toMatch(/^no: /);
      expect((await one.run(`${reach('127.0.0.1')} ${web2}`)).stderr).toMatch(/^no: /);
      expect((await one.run(`${reach('192.0.2.1')} 80`)).stderr).toMatch(/^no: /);
    } finally {
      outside.close();
    }
    await litterbox.delete('one', { force: true });
    expect(await told(web1)).toBe('[ECONNREFUSED]');
    expect(await told(web2)).toBe('hello from two\n');
  });

  it('FC-382: that nobody named are reached by one number, over stop and recover, until their object goes', async () => {
    await using fixture = withConfig('');
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    const url = new URL(await sandbox.url(8080));
    const answer = async () => await told(Number(url.port));
    expect(await answer()).toBe('[ECONNRESET]'); // nobody listens yet
    const serve = async () => {
      await sandbox.run(
        'perl server.pl 0.0.0.0 8080 one >/playground/log 2>&1 & until grep -q listening /playground/log; do sleep 0.05; done',
      );
      await sandbox.run('rm /playground/log');
    };
    await serve();
    expect(await answer()).toBe('hello from one\n');
    await sandbox.setRunState('stopped');
    expect(await answer()).toBe('[ECONNRESET]');
    await sandbox.setRunState('ready');
    await serve();
    expect([await answer(), await sandbox.url(8080)]).toEqual(['hello from one\n', url.href]);
    await sandbox.recover({ force: true });
    await serve();
    expect(await answer()).toBe('hello from one\n');
    await sandbox[Symbol.asyncDispose]();
    expect(await answer()).toBe('[ECONNREFUSED]');
  });

  it('stay the same over pause, stop and resume, and move when another program took one', async () => {
    await using fixture = withConfig('[container.ports]\nweb = 8080\n');
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    const portOf = async () => (await sandbox.ports())[0]?.outside ?? 0;
    const serve = async () =>
      await sandbox.run(
        'perl server.pl 127.0.0.1 8080 one >/playground/log 2>&1 & until grep -q listening /playground/log; do sleep 0.05; done',
      );
    await serve();
    const port = await portOf();
    await litterbox.setRunState('one', 'paused');
    expect(await told(port)).toBe('[ECONNRESET]');
    await litterbox.setRunState('one', 'ready');
    expect(await portOf()).toBe(port);
    expect(await told(port)).toBe('hello from one\n');
    await litterbox.setRunState('one', 'stopped');
    expect(await told(port)).toBe('[ECONNREFUSED]');
    await litterbox.setRunState('one', 'ready');
    expect(await portOf()).toBe(port);
    await litterbox.setRunState('one', 'stopped');
    const thief = createServer((socket) => socket.end('thief\n')).listen(port, '127.0.0.1');
    await once(thief, 'listening');
    try {
      await litterbox.setRunState('one', 'ready');
      const [moved] = await sandbox.ports();
      expect(moved).toMatchObject({ name: 'web', movedFrom: port });
      expect(moved?.outside).not.toBe(port);
      await sandbox.run('rm /playground/log');
      await serve();
      expect(await told(moved?.outside ?? 0)).toBe('hello from one\n');
      expect((await sandbox.run('echo $LITTERBOX_FWD_PORT_WEB')).stdout).toBe(`${moved?.outside}\n`);
    } finally {
      thief.close();
    }
  });
});

describe('services', () => {
  const WEB = `[container.ports]
web = 8080
[container.services.web]
command = ["perl", "server.pl", "127.0.0.1", "8080", "web"]
signals = { stop = "SIGINT", restart = "SIGHUP" }
health = { port = "web" }
`;

  it('start with the sandbox, are stopped and started and restarted by their signals, and say what they print', async () => {
    await using fixture = withConfig(WEB);
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    const port = (await sandbox.ports())[0]?.outside ?? 0;
    expect(await sandbox.services()).toMatchObject([{ name: 'web', state: 'running', restarts: 0 }]);
    expect(await told(port)).toBe('hello from web\n');
    await sandbox.service('restart', 'web');
    expect(await told(port)).toBe('hello from reloaded\n');
    expect(await sandbox.service('stop', 'web')).toMatchObject([{ state: 'stopped', exit: { signal: 'SIGINT' } }]);
    expect(await told(port)).toBe('[ECONNRESET]');
    expect(await sandbox.service('start')).toMatchObject([{ state: 'running' }]);
    expect(await told(port)).toBe('hello from web\n');
    let log = '';
    for await (const { text } of sandbox.logs({ service: 'web' })) log += text;
    expect(log).toMatch(
      /listening on 8080\n[^]*sending SIGHUP[^]*reloaded[^]*stopping with SIGINT[^]*listening on 8080/,
    );
    await expect(sandbox.service('start', 'nothing')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' });
    await litterbox.setRunState('one', 'stopped');
    await litterbox.setRunState('one', 'ready');
    expect(await sandbox.service('start')).toMatchObject([{ state: 'running' }]);
    expect(await told(port)).toBe('hello from web\n');
  });

  it('start in their order; what a service changes is recorded', async () => {
    await using fixture = withConfig(`[container.services]
third = { command = ["sh", "-c", "echo third >>order; exec sleep 1000"], after = ["second"] }
second = { command = ["sh", "-c", "sleep 0.1; echo second >>order"], after = ["first"] }
first = { command = ["sh", "-c", "echo first >>order; touch up; exec sleep 1000"], health = { command = ["test", "-e", "up"] } }
`);
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    expect(await sandbox.services()).toMatchObject([
      { name: 'first', state: 'running' },
      { name: 'second', state: 'exited' },
      { name: 'third', state: 'running' },
    ]);
    expect((await sandbox.run('cat order')).stdout).toBe('first\nsecond\nthird\n');
    await sandbox.service('restart', 'second');
    expect((await sandbox.run('cat order')).stdout).toBe('first\nsecond\nthird\nsecond\n');
    expect((await sandbox.log()).map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining('restart second'),
    );
  });

  // That they are contained, on every provider, is for the kit to show: here is how a person learns of it.
  it('that fail are named at create, and starting one says what it printed', async () => {
    await using fixture = withConfig(`[container.services]
crash = { command = ["sh", "-c", "echo going down; exit 3"] }
once = { command = ["sh", "-c", "exit 4"], restart = "never" }
missing = { command = ["no-such-program"], restart = "never" }
flood = { command = ["sh", "-c", "yes flood"] }
`);
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    expect(sandbox.created.warnings.join('\n')).toMatch(
      /service crash is (?:waiting|starting)[^]*once is failed[^]*missing is failed/,
    );
    expect(await sandbox.services()).toMatchObject([{ exit: { code: 3 } }, { exit: { code: 4 } }, {}, {}]);
    await expect(sandbox.service('start', 'once')).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
    const failure = await sandbox.service('start', 'crash').catch((error: unknown) => error);
    expect(isLitterboxError(failure, 'SERVICE_FAILED') && failure.message).toContain('going down');
    let log = '';
    for await (const { text } of sandbox.logs({ service: 'flood', tailBytes: 2 ** 30 })) log += text;
    expect(log.length).toBeLessThanOrEqual(2 ** 20);
  });

  it('that fill the sandbox with processes and get away are ended all the same', async () => {
    await using fixture = withConfig(`[limits]
processes = 64
[container.services]
bomb = { command = ["perl", "-e", "if (fork) { sleep 1; exit 0 } 1 while fork || 1"] }
`);
    const litterbox = await trusted(fixture.open());
    const sandbox = await litterbox.create({ name: 'one' });
    await eventually(
      async () => await sandbox.services(),
      ([bomb]) => bomb?.state === 'exited' && bomb.note !== undefined,
      60_000, // to look at it needs a turn among those that fork
    );
    await sandbox.service('stop', 'bomb');
    expect((await sandbox.run('grep -l "[f]ork ||" /proc/[0-9]*/cmdline | wc -l')).stdout.trim()).toBe('0');
  });

  it('are kept for other programs too, and end with the program that keeps them', async () => {
    await using fixture = withConfig(WEB);
    const keeper = await trusted(fixture.open());
    await keeper.create({ name: 'one' });
    const other = fixture.open();
    const sandbox = await other.open('one');
    expect(await sandbox.services()).toMatchObject([{ state: 'running' }]);
    const port = (await sandbox.ports())[0]?.outside ?? 0;
    await sandbox.service('restart');
    expect(await told(port)).toBe('hello from reloaded\n');
    await keeper[Symbol.asyncDispose]();
    expect(await told(port)).toBe('[ECONNREFUSED]');
    expect(await sandbox.service('start')).toMatchObject([{ state: 'running' }]); // this program keeps them now
    expect((await sandbox.ports())[0]?.outside).toBe(port);
    expect(await told(port)).toBe('hello from web\n');
  });
});
