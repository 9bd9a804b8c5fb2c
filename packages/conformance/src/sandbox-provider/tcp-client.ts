/**
 * Connects with whatever is there to address `$1`, port `$2`, and runs the shell text `$4` with the connection as its output.
 * `$3` is `ask`: then ends this direction, and prints all that comes. Or `talk`: the connection is its input too, and that is all.
 */
const CLIENT = `if command -v perl >/dev/null && perl -MIO::Socket::IP -e 1 2>/dev/null; then
exec perl -MIO::Socket::IP -e 'my ($address, $port, $way, $said) = @ARGV;
my $one = IO::Socket::IP->new(PeerHost => $address, PeerPort => $port) or exit 1;
unless ($way eq "ask" and my $asked = fork) {
open STDIN, "<&", $one if $way eq "talk"; open STDOUT, ">&", $one; exec "sh", "-c", $said; }
open STDIN, "<&", $one; my $reader = fork; exec "cat" unless $reader;
waitpid $asked, 0; shutdown $one, 1; waitpid $reader, 0' "$1" "$2" "$3" "$4"
elif command -v python3 >/dev/null; then
exec python3 -c 'import socket, subprocess, sys
_, address, port, way, said = sys.argv
try: one = socket.create_connection((address, int(port)))
except OSError: sys.exit(1)
if way == "talk": sys.exit(subprocess.run(["sh", "-c", said], stdin=one, stdout=one).returncode)
reader = subprocess.Popen(["cat"], stdin=one)
subprocess.run(["sh", "-c", said], stdout=one); one.shutdown(1); reader.wait()' "$1" "$2" "$3" "$4"
elif [ "$3" = ask ]; then
sh -c "$4" | nc "$1" "$2"
else
exec nc "$1" "$2" -e sh -c "$4"
fi`;

/** The command of a TCP client inside. Needs perl, python3 or the nc of busybox there. Fails when nothing listens. */
export function tcpClientCommand(
  way: 'ask' | 'talk',
  port: number,
  said: string,
  address = '127.0.0.1',
): readonly [string, ...string[]] {
  return ['sh', '-c', CLIENT, 'sh', address, String(port), way, said];
}
