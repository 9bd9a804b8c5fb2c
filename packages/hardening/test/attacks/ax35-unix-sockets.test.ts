// Unix sockets work inside. What of the host or of another sandbox could be reached by them, and what could be handed over.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import type { Sandbox } from 'litterbox';
import { type AttackFixture, hostEnvironment, inPlainBubblewrap, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

const KINDS = ['stream', 'datagram', 'sequenced', 'fifo', 'lock'];
const TYPES = 'my %types = (stream => SOCK_STREAM, datagram => SOCK_DGRAM, sequenced => SOCK_SEQPACKET);';

/** Has a thing of each kind in the directories `@ARGV`, says `ready`, and holds them until it is ended. */
const HOLDER = `use strict; use Socket; use Fcntl ':flock'; use POSIX (); $| = 1; umask 0; ${TYPES} my @held;
for my $directory (@ARGV) {
for my $kind (sort keys %types) { socket(my $s, AF_UNIX, $types{$kind}, 0) or die $!; bind($s, pack_sockaddr_un("$directory/$kind")) or die "$directory/$kind: $!"; listen($s, 9) unless $kind eq 'datagram'; push @held, $s }
POSIX::mkfifo("$directory/fifo", 0666) or die $!; open(my $f, '+<', "$directory/fifo") or die $!; push @held, $f;
open(my $l, '>', "$directory/lock") or die $!; flock($l, LOCK_EX) or die $!; push @held, $l }
print "ready\\n"; sleep 1 while getppid() != 1;`;

/** Prints what became of reaching each kind in the directories `@ARGV`; a name that begins with @ is abstract, and a stream. */
const REACHER = `use strict; use Socket; use Fcntl qw(:flock O_WRONLY O_NONBLOCK O_RDONLY); ${TYPES}
sub reach { my ($kind, $path) = @_; $! = 0;
if ($kind eq 'fifo') { return sysopen(my $f, $path, O_WRONLY | O_NONBLOCK) }
if ($kind eq 'lock') { sysopen(my $l, $path, O_RDONLY) or return 0; $! = 0; return !flock($l, LOCK_EX | LOCK_NB) }
socket(my $s, AF_UNIX, $types{$kind}, 0) or return 0; connect($s, pack_sockaddr_un($path)) }
for my $directory (@ARGV) {
if ($directory =~ s/^@/\\0/) { print reach('stream', $directory) ? "reached\\n" : "$!\\n"; next }
for my $kind (qw(${KINDS.join(' ')})) { print "$kind ", reach($kind, "$directory/$kind") ? 'reached' : $! || 'free', "\\n" } }`;

const all = (answer: string) => KINDS.map((kind) => `${kind} ${answer}\n`).join('');
/** What inodes of one's own answer: nobody listens, nobody reads, nobody has the lock. */
const APART = `${['stream', 'datagram', 'sequenced'].map((kind) => `${kind} Connection refused\n`).join('')}fifo No such device or address\nlock free\n`;
const ABSENT = all('No such file or directory');

/** A program of the host that holds one of each in the directories, until the fixture ends. */
async function hold(fixture: AttackFixture, ...directories: readonly string[]): Promise<void> {
  for (const directory of directories) mkdirSync(directory, { recursive: true });
  const holder = spawn('/usr/bin/perl', ['-e', HOLDER, ...directories], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin' },
  });
  fixture.defer(async () => {
    holder.kill('SIGKILL');
    if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit');
  });
  const [said] = await once(holder.stdout.setEncoding('utf8'), 'data');
  expect(said).toBe('ready\n');
}

const reach = async (fixture: AttackFixture, sandbox: Sandbox, ...directories: readonly string[]) =>
  (await fixture.run(sandbox, ['perl', '-e', REACHER, ...directories])).stdout;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

describe('Unix sockets', () => {
  attack('AX35: what lives in a tool directory is not reached, before and after the session began', async (fixture) => {
    const tools = join(fixture.scratch.directory, 'kit', 'bin');
    mkdirSync(tools, { recursive: true });
    writeFileSync(join(tools, 'tool-of-the-kit'), '#!/bin/sh\necho tool\n');
    chmodSync(join(tools, 'tool-of-the-kit'), 0o755);
    fixture.use(await hostEnvironment({ PATH: `${tools}:${process.env['PATH']}` }));
    const [early, late] = [join(tools, 'early'), join(tools, 'deep/er/late')];
    await hold(fixture, early);
    const sandbox = await fixture.open().create({ name: 'a' });
    positiveControl(
      'the tool directory',
      (await fixture.run(sandbox, 'tool-of-the-kit')).stdout,
      (text) => text === 'tool\n',
    );
    await hold(fixture, late);
    const outside = `perl -e ${quoted(REACHER)} ${early} ${late}`;
    positiveControl('the host', onTheHost(['sh', '-c', outside]).stdout, (text) => text === all('reached').repeat(2));
    positiveControl(
      'a read-only bind',
      inPlainBubblewrap(outside, ['--unshare-net', '--ro-bind', tools, tools]).stdout,
      (text) => text === all('reached').repeat(2),
    );
    expect(await reach(fixture, sandbox, early, late)).toBe(APART.repeat(2));
  });

  if (process.getuid?.() === 0)
    attack('AX35: a socket that root has among the programs of the machine is not reached', async (fixture) => {
      const directory = `/usr/local/lib/litterbox-attack-${process.pid}`;
      fixture.defer(() => rmSync(directory, { recursive: true, force: true }));
      await hold(fixture, directory);
      const outside = `perl -e ${quoted(REACHER)} ${directory}`;
      positiveControl('the host', onTheHost(['sh', '-c', outside]).stdout, (text) => text === all('reached'));
      const sandbox = await fixture.open().create({ name: 'a' });
      const sockets = (await reach(fixture, sandbox, directory)).split('\n').slice(0, 3);
      expect(sockets).toEqual(APART.split('\n').slice(0, 3));
      rmSync(directory, { recursive: true, force: true });
    });

  attack('AX36: a socket of another sandbox is not reached, and neither is an abstract one', async (fixture) => {
    const litterbox = fixture.open();
    const [one, two] = [await litterbox.create({ name: 'one' }), await litterbox.create({ name: 'two' })];
    const abstract = `litterbox-attack-${process.pid}`;
    const places = ['/tmp/place', '/dev/shm/place', '/home/agent/place', '/playground/place', '/src/place'];
    const holder = HOLDER.replace('sleep 1 while getppid() != 1;', 'sleep 1 while 1;').replace(
      'print "ready\\n"',
      `socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("\\0${abstract}")) or die $!; listen($s, 9); print "ready\\n"`,
    );
    const { stdout } = await fixture.run(one, [
      'sh',
      '-c',
      `mkdir ${places.join(' ')}; perl -e "$0" ${places.join(' ')} >/tmp/said 2>&1 & until [ -s /tmp/said ]; do sleep 0.05; done; cat /tmp/said`,
      holder,
    ]);
    expect(stdout).toBe('ready\n');
    positiveControl(
      'the sandbox itself',
      await reach(fixture, one, `@${abstract}`, ...places),
      (text) => text === `reached\n${all('reached').repeat(places.length)}`,
    );
    expect(await reach(fixture, two, `@${abstract}`, ...places)).toBe(
      `Connection refused\n${ABSENT.repeat(places.length)}`,
    );
  });

  attack('AX37: no descriptor of a process inside is a socket that somebody outside has too', async (fixture) => {
    const look =
      'perl -e \'print map { my $to = readlink; defined $to && $to =~ /^socket/ ? "$_ $to\\n" : () } glob "/proc/[0-9]*/fd/*"\'; echo looked';
    const held =
      "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); system q(for f in /proc/$PPID/fd/*; do readlink $f; done)' | grep -c socket:";
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a', setup: [['sh', '-c', `(${look}) >~/setup 2>&1`]] });
    positiveControl('a pair', (await fixture.run(sandbox, held)).stdout, (text) => text === '2\n');
    expect((await fixture.run(sandbox, 'cat ~/setup')).stdout).toBe('looked\n');
    expect((await fixture.run(sandbox, look)).stdout).toBe('looked\n');
    expect((await fixture.run(sandbox, look, { stdin: Buffer.from('x') })).stdout).toBe('looked\n');
    for (const terminal of [undefined, { columns: 80, rows: 24 }]) {
      await using attached = await sandbox.attach({ command: ['sh', '-c', look], ...(terminal && { terminal }) });
      let text = '';
      for await (const { bytes } of attached.process) text += Buffer.from(bytes).toString();
      await attached.finish(await attached.process.exit);
      expect(text.replaceAll('\r', '')).toBe('looked\n');
    }
  });

  attack('AX38: descriptors that are sent and never taken are few, and go with the sandbox', async (fixture) => {
    // struct msghdr with one SCM_RIGHTS of 250 descriptors, sent into pairs that nobody reads.
    const flood = `use strict; use Socket; open(my $null, '<', '/dev/null'); my ($sent, $said) = (0, ''); my @pairs;
for my $round (1 .. 1000) { socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or last; push @pairs, [$a, $b];
my $byte = 'x'; my $iov = pack('PQ', $byte, 1); my $control = pack('Qll', 16 + 4 * 250, 1, 1) . pack('l*', map { fileno($null) } 1 .. 250);
my $header = pack('QLx4PQPQl', 0, 0, $iov, 1, $control, length $control, 0);
if (syscall(46, fileno($a), $header, 0) < 0) { $said = "$!"; last } $sent += 250 }
print "$sent $said\\n";`;
    const allocated = () => Number(readFileSync('/proc/sys/fs/file-nr', 'utf8').split('\t')[0]);
    if (process.arch !== 'x64') return;
    const sandbox = await fixture.open().create({ name: 'a' });
    const before = allocated();
    const { stdout, stderr } = await fixture.run(sandbox, ['perl', '-e', flood]);
    expect(stderr).toBe('');
    const [sent = '', ...said] = stdout.trim().split(' ');
    positiveControl('descriptors in flight', Number(sent), (count) => count >= 1000);
    expect({ isBounded: Number(sent) <= 4096 + 250, said: said.join(' ') }).toEqual({
      isBounded: true,
      said: 'Too many references: cannot splice',
    });
    await fixture.open().setRunState('a', 'stopped');
    await eventually(
      async () => allocated() - before,
      (left) => left < 1000,
    );
  });
});
