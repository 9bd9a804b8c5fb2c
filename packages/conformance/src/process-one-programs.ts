/**
 * A Perl program for attack tests on x86-64: it traces process 1, or with the argument `own` a child, and makes it do what lets others believe
 * that it has ended and what lets it live on when they have: lose its parent-death signal, and write to every eventfd that it has. Prints
 * `traced` and its argument when it could.
 */
export const PROCESS_ONE_LIAR = `use strict; my ($who) = @ARGV; my $pid = 1;
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
 * A Perl program for attack tests that prints a line for each link below /proc that leads to a file, a directory or a program in a mount which this process
 * does not have, and for each that led to one of its own it counts: `inside N` is the last line.
 */
export const PROC_DOORS = `use strict; use POSIX (); my %mine;
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
