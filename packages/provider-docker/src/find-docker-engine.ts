import { type EngineAddress, type EngineTls, parseEngineAddress, readEngineTls } from '@litterbox/container-engine';
import { type CallOptions, type Host, LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';

interface ContextMeta {
  readonly Name?: string;
  readonly Endpoints?: { readonly docker?: { readonly Host?: string; readonly SkipTLSVerify?: boolean } };
}

/** Where engines listen when nobody said otherwise: rootful, Docker Desktop, rootless, and those of other makers. */
const usualSockets = (home: string, uid: number) => [
  '/var/run/docker.sock',
  `${home}/.docker/run/docker.sock`,
  `${home}/.docker/desktop/docker.sock`,
  `/run/user/${uid}/docker.sock`,
  `${home}/.orbstack/run/docker.sock`,
  `${home}/.colima/default/docker.sock`,
  `${home}/.config/colima/default/docker.sock`,
  `${home}/.rd/docker.sock`,
];
/** Where Docker looks that is told to use TLS, and not where. */
const TLS_PORT = 'tcp://localhost:2376';
const TLS_HINT =
  'Let the engine listen with --tlsverify, and set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH (https://docs.docker.com/engine/security/protect-access/).';

/**
 * The engine that the `docker` command would use: DOCKER_HOST with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, DOCKER_CONTEXT, the context in
 * use, the usual places; all of them as the login on that machine has them.
 *
 * @throws LitterboxError `UNAVAILABLE` when there is none; `UNSUPPORTED` for an address that cannot be honoured, or whose engine would
 *   not be verified.
 * @see https://docs.docker.com/engine/manage-resources/contexts/ for the files
 */
export async function findDockerEngine(
  provider: ProviderKey,
  host: Host,
  options?: CallOptions,
): Promise<EngineAddress> {
  const { homeDirectory, uid } = await host.facts(options);
  const { environment } = host;
  const directory = environment['DOCKER_CONFIG'] || `${homeDirectory}/.docker`;
  const asked = environment['DOCKER_HOST'];
  if (!asked) {
    const context = environment['DOCKER_CONTEXT'] || (await contextInUse(host, directory, options));
    if (context !== undefined && context !== 'default')
      return await addressOf(provider, host, directory, context, options);
  }
  const tls = await ownTls(provider, host, directory, asked, options);
  const text = asked || (tls && TLS_PORT);
  if (text) {
    const source = asked ? 'DOCKER_HOST' : 'DOCKER_TLS_VERIFY';
    return parseEngineAddress({ text, source, tls, tlsHint: TLS_HINT, provider });
  }
  const usual = usualSockets(homeDirectory, uid);
  for (const path of usual) if (await host.files.stat(path, options)) return { type: 'unix', path };
  throw new LitterboxError('UNAVAILABLE', 'No Docker engine was found.', {
    operation: 'engine.find',
    provider,
    hint: `Install Docker (sudo apt-get install docker.io) or start it (sudo systemctl start docker), or name its socket in DOCKER_HOST. There is none at ${usual.join(', ')}.`,
    facts: { isAbsent: true },
  });
}

/** What the environment says of TLS. Docker takes any text for yes. */
async function ownTls(
  provider: ProviderKey,
  host: Host,
  configuration: string,
  asked: string | undefined,
  options?: CallOptions,
): Promise<EngineTls | undefined> {
  const { DOCKER_TLS_VERIFY: verify, DOCKER_TLS: anyTls, DOCKER_CERT_PATH: named } = host.environment;
  const usesPort = !asked || !/^(unix|ssh|npipe):/.test(asked.trim());
  if (!usesPort || (!verify && !anyTls)) return undefined;
  if (!verify) throw unverified(provider, 'DOCKER_TLS without DOCKER_TLS_VERIFY', 'Set DOCKER_TLS_VERIFY=1 as well.');
  const files = { directory: named || configuration, needsCa: true, provider };
  return await readEngineTls(host, { ...files, source: named ? 'DOCKER_CERT_PATH' : 'DOCKER_TLS_VERIFY' }, options);
}

async function contextInUse(host: Host, directory: string, options?: CallOptions): Promise<string | undefined> {
  const config = await readJson<{ readonly currentContext?: string }>(host, `${directory}/config.json`, options);
  return config?.currentContext || undefined;
}

async function addressOf(
  provider: ProviderKey,
  host: Host,
  directory: string,
  context: string,
  options?: CallOptions,
): Promise<EngineAddress> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(context)));
  const name = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const file = `${directory}/contexts/meta/${name}/meta.json`;
  const endpoint = (await readJson<ContextMeta>(host, file, options))?.Endpoints?.docker;
  const source = `the Docker context ${shown(context)}`;
  if (!endpoint?.Host)
    throw new LitterboxError('UNAVAILABLE', `${source} is in use but not described in ${file}.`, {
      operation: 'engine.find',
      provider,
      hint: 'Choose another one: docker context use default.',
    });
  if (endpoint.SkipTLSVerify === true)
    throw unverified(
      provider,
      `${source} with skip-tls-verify`,
      `Make it verify: docker context update ${shown(context)} --docker host=${shown(endpoint.Host)},ca=ca.pem,cert=cert.pem,key=key.pem.`,
    );
  const tls = await readEngineTls(
    host,
    { directory: `${directory}/contexts/tls/${name}/docker`, needsCa: false, source, provider },
    options,
  );
  return parseEngineAddress({ text: endpoint.Host, source, tls, tlsHint: TLS_HINT, provider });
}

async function readJson<Content>(host: Host, path: string, options?: CallOptions): Promise<Content | undefined> {
  const bytes = await host.files.read(path, { ...options, maxBytes: 2 ** 20 });
  if (!bytes) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Content;
  } catch {
    return undefined; // as the docker command warns and goes on
  }
}

function unverified(provider: ProviderKey, source: string, hint: string): LitterboxError {
  return new LitterboxError(
    'UNSUPPORTED',
    `${source} would trust any server that answers, and give it everything that sandboxes hold.`,
    { operation: 'engine.find', provider, hint },
  );
}
