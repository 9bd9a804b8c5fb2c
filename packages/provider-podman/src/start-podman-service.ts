import { type CallOptions, type Host, LitterboxError, type ProviderKey, quoted, shown } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';

/** A service that we start ends after so many seconds without a question. */
const IDLE_SECONDS = 300;

/**
 * Starts Podman's service in the background, once; sandboxes do not need it to go on.
 *
 * @param directory the provider's own
 * @returns absolute path of its socket
 * @throws LitterboxError `UNAVAILABLE` when Podman is not installed or its service does not start
 */
export async function startPodmanService(
  provider: ProviderKey,
  host: Host,
  directory: string,
  options?: CallOptions,
): Promise<string> {
  const socket = `${directory}/podman.sock`;
  await host.files.makeDirectory(directory, { ...options, mode: 0o700 });
  // One at a time; a socket that nobody listens at any more is made anew by the service itself.
  const script = `command -v podman >/dev/null || { echo missing; exit 0; }
exec 9>${quoted(`${socket}.lock`)} && flock -w 10 9 || exit 1
if podman --remote --url ${quoted(`unix://${socket}`)} version >/dev/null 2>&1; then echo up; exit 0; fi
rm -f ${quoted(socket)}
setsid podman system service --time=${IDLE_SECONDS} ${quoted(`unix://${socket}`)} </dev/null >${quoted(`${socket}.log`)} 2>&1 9>&- &
n=0
until [ -S ${quoted(socket)} ]; do n=$((n+1)); [ $n -lt 100 ] || { tail -n 3 ${quoted(`${socket}.log`)} >&2; exit 1; }; sleep 0.1; done
echo up`;
  const { stdout, stderr } = await runScript(host, script, options);
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
      ...(isMissing && { facts: { isAbsent: true } }),
    },
  );
}
