import { type CallOptions, type Host, LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';

interface ContextMeta {
  readonly Name?: string;
  readonly Endpoints?: { readonly docker?: { readonly Host?: string } };
}

/** Where engines listen when nobody said otherwise: rootful, then Docker Desktop, then rootless. */
const usualSockets = (home: string, uid: number) => [
  '/var/run/docker.sock',
  `${home}/.docker/run/docker.sock`,
  `/run/user/${uid}/docker.sock`,
];

/**
 * The socket that the `docker` command would use: DOCKER_HOST, DOCKER_CONTEXT, the context in use, the usual places; all of
 * them as the login on that machine has them.
 *
 * @throws LitterboxError `UNAVAILABLE` when there is none; `UNSUPPORTED` for an engine that is not behind a Unix socket.
 * @see https://docs.docker.com/engine/manage-resources/contexts/ for the files
 */
export async function findDockerSocket(provider: ProviderKey, host: Host, call?: CallOptions): Promise<string> {
  const { homeDirectory, uid } = await host.facts(call);
  const { environment } = host;
  const asked = environment['DOCKER_HOST'];
  if (asked) return socketOf(provider, asked, 'DOCKER_HOST');
  const directory = environment['DOCKER_CONFIG'] ?? `${homeDirectory}/.docker`;
  const context = environment['DOCKER_CONTEXT'] || (await contextInUse(host, directory, call));
  if (context !== undefined && context !== 'default') {
    const endpoint = await endpointOf(provider, host, directory, context, call);
    return socketOf(provider, endpoint, `the Docker context ${shown(context)}`);
  }
  const usual = usualSockets(homeDirectory, uid);
  for (const path of usual) if (await host.files.stat(path, call)) return path;
  throw new LitterboxError('UNAVAILABLE', `No Docker engine was found: there is no ${usual.join(', ')}.`, {
    operation: 'engine.find',
    provider,
    hint: 'Install Docker (sudo apt-get install docker.io) or start it (sudo systemctl start docker), or name its socket in DOCKER_HOST.',
  });
}

async function contextInUse(host: Host, directory: string, call?: CallOptions): Promise<string | undefined> {
  const config = await readJson<{ readonly currentContext?: string }>(host, `${directory}/config.json`, call);
  return config?.currentContext;
}

async function endpointOf(
  provider: ProviderKey,
  host: Host,
  directory: string,
  context: string,
  call?: CallOptions,
): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(context)));
  const name = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const file = `${directory}/contexts/meta/${name}/meta.json`;
  const endpoint = (await readJson<ContextMeta>(host, file, call))?.Endpoints?.docker?.Host;
  if (endpoint) return endpoint;
  throw new LitterboxError(
    'UNAVAILABLE',
    `The Docker context ${shown(context)} is in use but not described in ${file}.`,
    {
      operation: 'engine.find',
      provider,
      hint: 'Choose another one: docker context use default.',
    },
  );
}

async function readJson<Content>(host: Host, path: string, call?: CallOptions): Promise<Content | undefined> {
  const bytes = await host.files.read(path, { ...call, maxBytes: 2 ** 20 });
  if (!bytes) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Content;
  } catch {
    return undefined; // as the docker command warns and goes on
  }
}

function socketOf(provider: ProviderKey, endpoint: string, source: string): string {
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : undefined;
  if (path?.startsWith('/')) return path;
  throw new LitterboxError(
    'UNSUPPORTED',
    `${source} names ${shown(endpoint)}, and Litterbox talks to engines behind Unix sockets only.`,
    {
      operation: 'engine.find',
      provider,
      hint: 'Name a local socket: DOCKER_HOST=unix:///var/run/docker.sock. An engine on the network would be trusted with everything.',
    },
  );
}
