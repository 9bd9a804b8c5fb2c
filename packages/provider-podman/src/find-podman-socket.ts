import { type CallOptions, type Host, LitterboxError, quoted, shown, type ProviderKey } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';

/** A service that we start ends after so many seconds without a question. */
const IDLE_SECONDS = 300;

/**
 * The socket that `podman --remote` would use: CONTAINER_HOST, the user's own service, the machine's for root. Where there is none
 * and Podman is installed, a service is started in the background; sandboxes do not need it to go on.
 *
 * @throws LitterboxError `UNAVAILABLE` when Podman is not there; `UNSUPPORTED` for an engine that is not behind a Unix socket.
 */
export async function findPodmanSocket(
  provider: ProviderKey,
  host: Host,
  directory: string,
  call?: CallOptions,
): Promise<string> {
  const { uid } = await host.facts(call);
  const { environment } = host;
  const asked = environment['CONTAINER_HOST'];
  if (asked) return socketOf(provider, asked);
  const runtimeDirectory = environment['XDG_RUNTIME_DIR'] ?? `/run/user/${uid}`;
  const usual = uid === 0 ? '/run/podman/podman.sock' : `${runtimeDirectory}/podman/podman.sock`;
  if (await host.files.stat(usual, call)) return usual;
  return await startService(provider, host, directory, call);
}

async function startService(provider: ProviderKey, host: Host, directory: string, call?: CallOptions): Promise<string> {
  const socket = `${directory}/podman.sock`;
  await host.files.makeDirectory(directory, { ...call, mode: 0o700 });
  // One at a time; a socket that nobody listens at any more is made anew by the service itself.
  const script = `command -v podman >/dev/null || { echo missing; exit 0; }
exec 9>${quoted(`${socket}.lock`)} && flock -w 10 9 || exit 1
if podman --remote --url ${quoted(`unix://${socket}`)} version >/dev/null 2>&1; then echo up; exit 0; fi
rm -f ${quoted(socket)}
setsid podman system service --time=${IDLE_SECONDS} ${quoted(`unix://${socket}`)} </dev/null >${quoted(`${socket}.log`)} 2>&1 9>&- &
n=0
until [ -S ${quoted(socket)} ]; do n=$((n+1)); [ $n -lt 100 ] || { tail -n 3 ${quoted(`${socket}.log`)} >&2; exit 1; }; sleep 0.1; done
echo up`;
  const { stdout, stderr } = await runScript(host, script, call);
  if (stdout.trim() === 'up') return socket;
  const isMissing = stdout.trim() === 'missing';
  throw new LitterboxError(
    'UNAVAILABLE',
    isMissing
      ? 'Podman is not installed on this machine.'
      : `Podman's service could not be started: ${shown(stderr.trim() || 'it said nothing')}.`,
    {
      operation: 'engine.find',
      provider,
      hint: isMissing
        ? 'Install it: sudo apt-get install podman.'
        : 'Start it yourself (systemctl --user start podman.socket), or name its socket in CONTAINER_HOST.',
    },
  );
}

function socketOf(provider: ProviderKey, endpoint: string): string {
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : undefined;
  if (path?.startsWith('/')) return path;
  throw new LitterboxError(
    'UNSUPPORTED',
    `CONTAINER_HOST names ${shown(endpoint)}, and Litterbox talks to engines behind Unix sockets only.`,
    {
      operation: 'engine.find',
      provider,
      hint: 'Name a local socket: CONTAINER_HOST=unix:///run/user/1000/podman/podman.sock.',
    },
  );
}
