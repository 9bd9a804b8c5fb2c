import type { ConnectionTimeouts } from './connection-timeouts.ts';

/** How many bytes of one direction of a program may be on their way before the other side has taken them. */
export const MUX_WINDOW_BYTES = 256 * 1024;
/** A frame carries no more. */
export const MUX_FRAME_BYTES = 32 * 1024;

/**
 * The far end of {@link ShellMux}, in Perl: starts shells for whoever writes to its stdin and carries their stdin and outputs, until that ends, or until
 * nothing has come for so long that the watch has ended all else: an SSH server may keep a connection that is dead for a quarter of an hour.
 *
 * A frame is a letter, a number of a program and the length of what follows, both as 32 bits with the high byte first. It is told: `S` start the
 * command line; `W` bytes for stdin; `E` no more of them; `A` so many bytes of output were taken; `C` nobody has use for the program any more. It tells:
 * `o` and `e` output; `w` so many bytes of stdin were taken; `x` exit code and signal; `c` both outputs have ended.
 *
 * @param nonce its greeting: what a login shell printed comes before it
 */
export const muxProgram = (
  nonce: string,
  { farSilenceSeconds, farLookSeconds }: ConnectionTimeouts,
): string => `use strict;
use POSIX qw(:sys_wait_h);
use Fcntl;
my ($window, $most) = (${MUX_WINDOW_BYTES}, ${MUX_FRAME_BYTES});
my (%programs, %by_pid);
my ($in, $out, $is_over) = ('', '', 0);
# By a clock that nobody sets.
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
sub now { return (POSIX::times())[0] / $ticks; }
my $heard_at = now();
sub quick { my $flags = fcntl($_[0], F_GETFL, 0); fcntl($_[0], F_SETFL, $flags | O_NONBLOCK); }
pipe(my $heard, my $bell) or exit 70;
quick($_) for $heard, $bell, *STDIN, *STDOUT;
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { syswrite($bell, '.', 1) };
sub tell_of { my ($letter, $id, $bytes) = @_; $out .= pack('aNN', $letter, $id, length $bytes) . $bytes; }
sub start {
  my ($id, $command) = @_;
  my ($p0, $p1, $p2, $c0, $c1, $c2);
  my $pid;
  if (pipe($c0, $p0) && pipe($p1, $c1) && pipe($p2, $c2)) { $pid = fork; }
  if (!defined $pid) {
    tell_of('e', $id, "cannot fork: $!\\n");
    tell_of('x', $id, pack('NN', 254, 0));
    tell_of('c', $id, '');
    return;
  }
  if (!$pid) {
    POSIX::setsid();
    POSIX::dup2(fileno $c0, 0); POSIX::dup2(fileno $c1, 1); POSIX::dup2(fileno $c2, 2);
    $SIG{PIPE} = $SIG{CHLD} = 'DEFAULT';
    exec { '/bin/sh' } 'sh', '-c', $command or POSIX::_exit(127);
  }
  quick($_) for $p0, $p1, $p2;
  $programs{$id} = { pid => $pid, in => $p0, queue => '', ends => 0, o => $p1, e => $p2, flying => 0 };
  $by_pid{$pid} = $id;
}
sub forget { my ($id) = @_; my $p = delete $programs{$id} or return; delete $by_pid{$p->{pid}}; }
sub feed {
  my ($id, $p) = @_;
  if (length $p->{queue}) {
    my $n = syswrite($p->{in}, $p->{queue});
    if (!defined $n) { return if $!{EAGAIN} || $!{EINTR}; $n = length $p->{queue}; }
    substr($p->{queue}, 0, $n, '');
    tell_of('w', $id, pack('N', $n));
  }
  if ($p->{ends} && !length $p->{queue}) { close $p->{in}; delete $p->{in}; }
}
sub take {
  my ($id, $p, $stream) = @_;
  my $n = sysread($p->{$stream}, my $bytes, $most);
  if (!defined $n) { return if $!{EAGAIN} || $!{EINTR}; $n = 0; }
  if ($n) { $p->{flying} += $n; tell_of($stream, $id, $bytes); return; }
  close $p->{$stream};
  delete $p->{$stream};
  return if $p->{o} || $p->{e};
  tell_of('c', $id, '');
  forget($id) if $p->{ended};
}
sub obey {
  my ($letter, $id, $bytes) = @_;
  return start($id, $bytes) if $letter eq 'S';
  my $p = $programs{$id} or return;
  if ($letter eq 'A') { $p->{flying} -= unpack('N', $bytes); }
  elsif ($letter eq 'C') { close $p->{$_} for grep { $p->{$_} } qw(in o e); delete @$p{qw(in o e)}; forget($id) if $p->{ended}; }
  elsif (!$p->{in}) { tell_of('w', $id, pack('N', length $bytes)) if $letter eq 'W'; }
  elsif ($letter eq 'W') { $p->{queue} .= $bytes; feed($id, $p); }
  elsif ($letter eq 'E') { $p->{ends} = 1; feed($id, $p); }
}
sub reap {
  while ((my $pid = waitpid(-1, WNOHANG)) > 0) {
    my ($code, $signal) = ($? >> 8, $? & 127);
    my $id = $by_pid{$pid};
    next if !defined $id;
    my $p = $programs{$id};
    $p->{ended} = 1;
    tell_of('x', $id, pack('NN', $code, $signal));
    forget($id) if !$p->{o} && !$p->{e};
  }
}
$out = "\\x1e${nonce} mux\\n";
until ($is_over) {
  my ($read, $write) = ('', '');
  vec($read, fileno STDIN, 1) = 1;
  vec($read, fileno $heard, 1) = 1;
  vec($write, fileno STDOUT, 1) = 1 if length $out;
  for my $p (values %programs) {
    vec($write, fileno $p->{in}, 1) = 1 if $p->{in} && length $p->{queue};
    next if $p->{flying} >= $window || length $out > 4 * $window;
    for my $stream (qw(o e)) { vec($read, fileno $p->{$stream}, 1) = 1 if $p->{$stream}; }
  }
  my $found = select($read, $write, undef, ${farLookSeconds});
  next if $found < 0;
  last if !vec($read, fileno STDIN, 1) && now() - $heard_at > ${farSilenceSeconds + farLookSeconds};
  if (vec($read, fileno $heard, 1)) { sysread($heard, my $rings, 512); reap(); }
  for my $id (keys %programs) {
    my $p = $programs{$id};
    feed($id, $p) if $p->{in} && vec($write, fileno $p->{in}, 1);
    for my $stream (qw(o e)) { take($id, $p, $stream) if $p->{$stream} && vec($read, fileno $p->{$stream}, 1); }
  }
  if (vec($read, fileno STDIN, 1)) {
    $heard_at = now();
    my $n = sysread(STDIN, $in, 65536, length $in);
    $is_over = 1 if defined $n ? $n == 0 : !($!{EAGAIN} || $!{EINTR});
    while (length $in >= 9) {
      my ($letter, $id, $length) = unpack('aNN', $in);
      last if length $in < 9 + $length;
      my $bytes = substr($in, 9, $length);
      substr($in, 0, 9 + $length, '');
      obey($letter, $id, $bytes);
    }
  }
  if (length $out) {
    my $n = syswrite(STDOUT, $out, 65536);
    if (defined $n) { substr($out, 0, $n, ''); }
    elsif (!($!{EAGAIN} || $!{EINTR})) { $is_over = 1; }
  }
}
`;
