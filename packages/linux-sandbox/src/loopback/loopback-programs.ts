/** A program that waits longer for a connection has met a queue that is full. */
const CONNECT_SECONDS = 10;
/** At once, of one port. */
export const MAX_CONNECTIONS = 64;

/** Whoever has the number of the process by now, it must be this namespace, where one is named. */
const ASSERT_NETWORK = `my $network = shift @ARGV;
exit 3 if length $network && readlink('/proc/self/ns/net') ne $network;`;

/**
 * What a program says on stderr when its stdout ends because the connection was closed: how many bytes it carried. Without it the connection
 * was reset. An end of stdout alone would not do: in a container a shell of ours holds it open, and stderr may arrive before it.
 */
export const ORDERLY = /^\.(\d{1,15})\n/;

/**
 * `pump` carries two directions until both have ended; each ends by itself. What fails ends both at once, and so does a
 * taker that is gone. Who sends SIGTERM has closed stdin too: what came by it is still carried, and then both end.
 */
const PUMP = `use strict;
use Socket;
use Fcntl;
$SIG{PIPE} = 'IGNORE';
$| = 1;
my $is_gone = sub { 0 };
my $leaves = 0;
$SIG{TERM} = sub { $leaves = 1 };
sub quick { fcntl($_[0], F_SETFL, fcntl($_[0], F_GETFL, 0) | O_NONBLOCK); }
my $carried = 0;
sub finish { syswrite(STDERR, ".$carried\n"); close STDERR; close $_[0]; }
sub pump {
  my @ways = map { { from => $_->[0], to => $_->[1], bytes => '', ended => 0, done => 0 } } @_;
  quick($_->{from}), quick($_->{to}) for @ways;
  while (grep { !$_->{done} } @ways) {
    exit 0 if $leaves && $ways[0]{done};
    my ($read, $write) = ('', '');
    for my $way (grep { !$_->{done} } @ways) {
      if (length $way->{bytes}) { vec($write, fileno $way->{to}, 1) = 1; }
      else { vec($read, fileno $way->{from}, 1) = 1; }
    }
    next if select($read, $write, undef, undef) < 0;
    for my $way (grep { !$_->{done} } @ways) {
      if (vec($read, fileno $way->{from}, 1)) {
        my $n = sysread($way->{from}, $way->{bytes}, 65536);
        if (!defined $n) { next if $!{EAGAIN} || $!{EINTR}; exit 1; }
        exit 0 if !$n && !grep({ $_->{done} } @ways) && $is_gone->();
        $way->{ended} = 1 if !$n;
      }
      if (length $way->{bytes}) {
        my $n = syswrite($way->{to}, $way->{bytes});
        if (!defined $n) { next if $!{EAGAIN} || $!{EINTR}; exit 1; }
        $carried += $n if fileno($way->{to}) == 1;
        substr($way->{bytes}, 0, $n, '');
      }
      if ($way->{ended} && !length $way->{bytes}) { $way->{done} = 1; fileno($way->{to}) == 1 ? finish($way->{to}) : shutdown($way->{to}, 1); }
    }
  }
}
`;

/** Perl, in the network of the sandbox: connects to the port that is its argument, on 127.0.0.1 or else ::1, says `+`, and becomes the connection. */
export const CONNECT_PROGRAM = `${PUMP}${ASSERT_NETWORK}
my $port = shift @ARGV;
my $why = '';
$SIG{ALRM} = sub { print "-timed out\\n"; exit 1 };
alarm ${CONNECT_SECONDS};
for my $try ([AF_INET, '127.0.0.1'], [AF_INET6, '::1']) {
  my ($family, $address) = @$try;
  socket(my $socket, $family, SOCK_STREAM, 0) or next;
  my $place = $family == AF_INET ? pack_sockaddr_in($port, inet_aton($address)) : Socket::pack_sockaddr_in6($port, Socket::inet_pton($family, $address));
  if (!connect($socket, $place)) { $why ||= "$!"; next; }
  alarm 0;
  setsockopt($socket, Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1);
  print "+\\n";
  pump([*STDIN, $socket], [$socket, *STDOUT]);
  exit 0;
}
print "-$why\\n";
exit 1;
`;

/**
 * Perl, in the network of the sandbox: listens on the port that is its first argument, on 127.0.0.1 and ::1, and at the Unix socket that is its second,
 * where {@link FETCH_PROGRAM} fetches what it accepted. It says `+`, or `-` and why not; then the number of each connection. It ends with its stdin.
 */
export const LISTEN_PROGRAM = `${PUMP}${ASSERT_NETWORK}
my ($port, $path) = @ARGV;
my (@doors, %waiting, %children);
my $last = 0;
sub refuse { print "-", ($!{EADDRINUSE} ? 'EADDRINUSE' : $!{EACCES} ? 'EACCES' : "$!"), "\\n"; exit 1; }
for my $try ([AF_INET, '127.0.0.1'], [AF_INET6, '::1']) {
  my ($family, $address) = @$try;
  my $place = $family == AF_INET ? pack_sockaddr_in($port, inet_aton($address)) : Socket::pack_sockaddr_in6($port, Socket::inet_pton($family, $address));
  my $is_absent = sub { $family == AF_INET6 && ($!{EADDRNOTAVAIL} || $!{EAFNOSUPPORT}) };
  if (!socket(my $door, $family, SOCK_STREAM, 0)) { next if $is_absent->(); refuse(); }
  else {
    setsockopt($door, SOL_SOCKET, SO_REUSEADDR, 1);
    setsockopt($door, Socket::IPPROTO_IPV6, Socket::IPV6_V6ONLY, 1) if $family == AF_INET6;
    if (!bind($door, $place) || !listen($door, 128)) { next if $is_absent->(); refuse(); }
    push @doors, $door;
  }
}
umask 0077;
my $fetch;
socket($fetch, AF_UNIX, SOCK_STREAM, 0) && bind($fetch, pack_sockaddr_un($path)) && listen($fetch, 128) or refuse();
print "+\\n";
$SIG{CHLD} = sub {};
while (1) {
  while ((my $pid = waitpid(-1, 1)) > 0) { delete $children{$pid}; }
  my $read = '';
  vec($read, fileno $_, 1) = 1 for *STDIN, $fetch, @doors;
  next if select($read, undef, undef, 1) <= 0;
  last if vec($read, fileno STDIN, 1) && !sysread(STDIN, my $word, 1);
  for my $door (grep { vec($read, fileno $_, 1) } @doors) {
    accept(my $visitor, $door) or next;
    while ((my $pid = waitpid(-1, 1)) > 0) { delete $children{$pid}; }
    if (keys(%waiting) + keys(%children) >= ${MAX_CONNECTIONS}) { setsockopt($visitor, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)); next; }
    setsockopt($visitor, Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1);
    $waiting{++$last} = $visitor;
    print "$last\\n";
  }
  if (vec($read, fileno $fetch, 1) && accept(my $taker, $fetch)) {
    my $number = '';
    while (sysread($taker, my $digit, 1)) { last if $digit eq "\\n"; $number .= $digit; }
    my $is_refused = $number =~ s/^-//;
    if ($is_refused) { kill 'TERM', grep { $children{$_} eq $number } keys %children; next; }
    my $visitor = delete $waiting{$number} or next;
    my $pid = fork;
    next if !defined $pid;
    if ($pid) { $children{$pid} = $number; next; }
    $SIG{TERM} = sub { setsockopt($visitor, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)); exit 1 };
    close $_ for @doors, $fetch, *STDIN;
    %waiting = ();
    $is_gone = sub { !defined syswrite($taker, '', 0) && $!{EPIPE} };
    pump([$visitor, $taker], [$taker, $visitor]);
    exit 0;
  }
}
`;

/**
 * Perl, anywhere on the machine: fetches the connection of that number from the Unix socket and becomes it. With a dash before the number the one that was
 * fetched is reset.
 */
export const FETCH_PROGRAM = `${PUMP}
my ($path, $number) = @ARGV;
my $socket;
socket($socket, AF_UNIX, SOCK_STREAM, 0) && connect($socket, pack_sockaddr_un($path)) or exit 1;
syswrite($socket, "$number\\n");
print "+\\n";
pump([*STDIN, $socket], [$socket, *STDOUT]);
`;
