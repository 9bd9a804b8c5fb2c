/** A Perl program that connects to a Unix socket and prints what that sends. A name that begins with a NUL is abstract. */
export function connectTo(address: string, type = 'SOCK_STREAM'): string {
  return `use Socket; socket(my $s, AF_UNIX, ${type}, 0) or die "socket: $!"; connect($s, pack_sockaddr_un("${address.replace('\0', '\\0')}")) or die "connect: $!"; sysread($s, my $got, 99); print $got`;
}
