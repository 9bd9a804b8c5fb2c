import { type ProcessHandle, type SandboxRuntime } from '@litterbox/core/provider';

/** What each connection gets, by its first line: `echo`, `send BYTES`, `count` (answers with how many bytes came), `sleep` (reads nothing), `hello`. */
const HANDLER =
  'read -r verb bytes; case $verb in hello) echo hello from $0;; echo) cat;; send) head -c $bytes /dev/zero;; count) wc -c;; sleep) sleep 1000;; esac';

/** Listens with whatever is there: `$1` address, `$2` port, `$3` name. Says `listening` first. */
const SERVER = `handler='${HANDLER}'
if command -v perl >/dev/null && perl -MIO::Socket::IP -e 1 2>/dev/null; then
exec perl -MIO::Socket::IP -e '$| = 1; $SIG{CHLD} = "IGNORE"; my ($address, $port, $name, $handler) = @ARGV;
my $server = IO::Socket::IP->new(LocalHost => $address, LocalPort => $port, Listen => 128, ReuseAddr => 1) or die $@;
print "listening\\n";
for (;;) { my $one = $server->accept or next; next if fork;
open STDIN, "<&", $one; open STDOUT, ">&", $one; exec "sh", "-c", $handler, $name; }' "$1" "$2" "$3" "$handler"
elif command -v python3 >/dev/null; then
exec python3 -u -c 'import os, signal, socket, sys
_, address, port, name, handler = sys.argv
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
server = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((address, int(port))); server.listen(128); print("listening")
while True:
  one, _ = server.accept()
  if os.fork(): one.close(); continue
  os.dup2(one.fileno(), 0); os.dup2(one.fileno(), 1); os.execlp("sh", "sh", "-c", handler, name)' "$1" "$2" "$3" "$handler"
else
nc -ll -p "$2" -e sh -c "$handler" "$3" &
port=$(printf ':%04X ' "$2")
until grep -q "$port.* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.02; kill -0 $! || exit 1; done
echo listening
wait
fi`;

/** The command of a TCP server, for {@link tcpServer} and as a service. */
export function tcpServerCommand(port: number, address: string, name: string): readonly [string, ...string[]] {
  return ['sh', '-c', SERVER, 'sh', address, String(port), name];
}

/** Starts a TCP server inside, or on a host; resolves when it listens. Needs perl, python3 or the nc of busybox there, which takes every address. */
export async function tcpServer(
  runtime: Pick<SandboxRuntime, 'spawn'>,
  port: number,
  { address = '127.0.0.1', name = 'server' }: { readonly address?: string; readonly name?: string } = {},
): Promise<ProcessHandle> {
  const server = await runtime.spawn({ argv: tcpServerCommand(port, address, name) });
  let said = '';
  for await (const { bytes } of server) {
    said += new TextDecoder().decode(bytes);
    if (said.includes('listening\n')) return server;
  }
  throw new Error(`There is nothing that listens: ${said}`);
}
