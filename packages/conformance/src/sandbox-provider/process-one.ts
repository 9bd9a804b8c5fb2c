import assert from 'node:assert/strict';
import type { Host, SandboxRuntime } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Bench, Check } from './suite.ts';

/** What holds whatever process 1 of a sandbox does: an agent has its user, and may trace it where the kernel lets it. */
export function processOne(check: Check): void {
  check('process 1 is traced and told to lie, and nothing outlives a stop', async (bench) => {
    const runtime = await bench.create();
    const left = await lied(bench, runtime);
    await runtime.stop();
    assert.equal(await left(), 0, 'what ran before the stop');
    await runtime.start();
    // Nor does anything of before take what is asked for now.
    assert.equal((await bench.sh(runtime, 'echo on')).stdout, 'on\n');
    assert.equal(await left(), 0, 'what ran before the stop, in the next session');
  });

  check('process 1 is traced and told to lie, and nothing outlives a removal', async (bench) => {
    const runtime = await bench.create();
    const left = await lied(bench, runtime);
    await bench.provider.remove(runtime.id);
    assert.equal(await left(), 0);
  });

  check('no link of a process leads out of the mounts that are there', async ({ create, sh }) => {
    const runtime = await create();
    if ((await sh(runtime, 'command -v perl')).exit.code !== 0) return; // there is nobody who could look
    // The positive control is what is held here: a file of its own that is open for writing, a directory and a program.
    const script = 'exec 5>held; perl -e "$1"';
    const { stdout, stderr } = await sh(runtime, '', { argv: ['sh', '-c', script, 'sh', DOORS] });
    const lines = stdout.trim().split('\n');
    assert.ok(Number(/^inside (\d+)$/.exec(lines.pop() ?? '')?.[1]) > 3, `positive control: ${stdout}${stderr}`);
    assert.deepEqual(lines, []);
  });
}

/** Starts what should not outlive the sandbox, and lets process 1 lie for it. Returns how to count, from outside, what of it is there. */
async function lied({ host, sh }: Bench, runtime: SandboxRuntime): Promise<() => Promise<number>> {
  const mark = crypto.randomUUID();
  const left = () => withArgument(host, mark);
  const process = await runtime.spawn({ argv: ['sh', '-c', 'trap "" HUP TERM; while :; do sleep 1; done', mark] });
  process.exit.catch(() => {}); // a process 1 that says that it has ended ends the session
  await eventually(left, (count) => count > 0);
  // Where nothing can trace, there is nobody who could make process 1 lie: what is asked after is asked all the same.
  if ((await sh(runtime, 'command -v perl && [ "$(uname -m)" = x86_64 ]')).exit.code !== 0) return left;
  const own = await sh(runtime, '', { argv: ['perl', '-e', LIAR, 'own'] });
  assert.equal(
    own.stdout,
    'traced own\n',
    `positive control: a process of its own is made to say what it did not: ${own.stderr}`,
  );
  await sh(runtime, '', { argv: ['perl', '-e', LIAR, '1'] }).catch(() => undefined);
  return left;
}

/** How many processes of the machine have this argument. */
async function withArgument(host: Host, argument: string): Promise<number> {
  // Not an argument of what looks for it.
  const pattern = `[${argument.slice(0, 1)}]${argument.slice(1)}`;
  const script = 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -cxe "$1"';
  return Number((await collected(await host.spawn({ argv: ['sh', '-c', script, 'sh', pattern] }))).stdout);
}

/**
 * A Perl program that traces process 1, or with the argument `own` a child, and makes it do what lets others believe that it has ended
 * and what lets it live on when they have: lose its parent-death signal, and write to every eventfd that it has.
 */
const LIAR = `use strict; my ($who) = @ARGV; my $pid = 1;
if ($who eq 'own') { $pid = fork(); if (!$pid) { sleep 1000; exit } select(undef, undef, undef, 0.01) until sleeps(); }
sub sleeps { open(my $file, '<', "/proc/$pid/stat") or die; return <$file> =~ /\\) S / }
sub settle { my $status = "\\0" x 8; syscall(61, $pid, $status, 0x40000000, 0) }
syscall(101, 16, $pid, 0, 0) == 0 or die "attach: $!"; settle();
my $kept = "\\0" x 216; syscall(101, 12, $pid, 0, $kept) == 0 or die "registers: $!";
my @kept = unpack('q27', $kept); my $free = $kept[19] - 4096;
sub call { my ($number, @arguments) = @_; my @now = @kept;
@now[10, 14, 13, 12, 15] = ($number, (@arguments, 0, 0, 0)[0 .. 2], -1); $now[16] -= 2;
my $now = pack('q27', @now); syscall(101, 13, $pid, 0, $now); syscall(101, 9, $pid, 0, 0) == 0 or die "step: $!"; settle(); }
syscall(101, 5, $pid, $free, unpack('q', "traced\\0\\0")); call(157, 15, $free);
call(157, 1, 0);
syscall(101, 5, $pid, $free, 1);
for my $link (glob("/proc/$pid/fd/*")) { next unless (readlink($link) // '') =~ /eventfd/; my ($fd) = $link =~ /([0-9]+)$/; call(1, $fd, $free, 8); }
syscall(101, 13, $pid, 0, $kept); syscall(101, 17, $pid, 0, 0);
open(my $name, '<', "/proc/$pid/comm") or die; my $comm = <$name>; chomp $comm; print "$comm $who\\n"; kill 9, $pid if $who eq 'own';
`;

/**
 * A Perl program that prints a line for each link below /proc that leads to a file, a directory or a program in a mount which this process
 * does not have, and for each that led to one of its own it counts: `inside N` is the last line.
 */
const DOORS = `use strict; use POSIX (); my %mine;
open(my $mounts, '<', '/proc/self/mountinfo') or die; while (<$mounts>) { $mine{$1} = 1 if /^(\\d+) / } my $inside = 0;
sub mount { open(my $info, '<', $_[0]) or return undef; while (<$info>) { return $1 if /^mnt_id:\\s*(\\d+)/ } undef }
sub flags { open(my $info, '<', $_[0]) or return 0; while (<$info>) { return oct $1 if /^flags:\\s*(\\d+)/ } 0 }
sub leads { my ($path, $flags) = @_; my $fd = POSIX::open($path, $flags); return '' unless defined $fd;
my $id = mount("/proc/self/fdinfo/$fd"); POSIX::close($fd); return defined $id && $mine{$id} ? 'inside' : 'outside' }
for my $link (glob('/proc/[0-9]*/{exe,cwd,root,fd/*}')) {
my $to = readlink($link) // next; next if $to =~ /^(pipe|socket|anon_inode):/;
my @stat = stat($link) or next; my $kind = $stat[2] & 0170000; next unless $kind == 0100000 || $kind == 0040000;
my %found;
$found{'leads'} = leads($link, 010000000);
$found{'opened'} = leads($link, 1 | 04000) if $kind == 0100000;
$found{'changed'} = $found{'leads'} if chmod($stat[2] & 07777, $link);
(my $info = $link) =~ s/fd/fdinfo/; if ($info ne $link) { my $id = mount($info); $found{'held for writing'} = $mine{$id} ? 'inside' : 'outside' if defined $id && flags($info) & 3 }
$inside++ if grep { $_ eq 'inside' } values %found;
print "$link -> $to: $_\\n" for sort grep { $found{$_} eq 'outside' } keys %found; }
print "inside $inside\\n";
`;
