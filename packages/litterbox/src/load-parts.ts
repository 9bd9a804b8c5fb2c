import {
  type Clock,
  type DirectorySync,
  type EndpointGate,
  type Heap,
  type HostGauge,
  type Hosts,
  LitterboxError,
  type NetworkGate,
  type SecretSource,
  type Host,
  type SourceControl,
} from '@litterbox/core/agent';
import type { LitterboxOptions, LitterboxParts } from './litterbox-options.ts';
import { localHosts } from './local-hosts.ts';
import { withOwnMachines } from './with-own-machines.ts';

/** What is loaded before the rest. */
export interface FirstParts extends Pick<LitterboxParts, 'heap' | 'sourceControl'> {
  readonly stateDirectory: string;
  readonly repositoryPath: string | undefined;
}

/** Makes the source control that comes along. */
export type LoadSourceControl = (options: {
  readonly stateDirectory: string;
  readonly heap: Heap;
  /** Where the repository is that will be opened. */
  readonly expectedPath?: string;
}) => Promise<SourceControl>;

/** Source control and what it needs: it looks for the repository while the rest is loaded. */
export async function loadFirstParts(
  { parts = {}, stateDirectory = defaultStateDirectory(), repo = '.' }: LitterboxOptions,
  loadSourceControl: LoadSourceControl,
): Promise<FirstParts> {
  if (!stateDirectory.startsWith('/')) {
    throw new LitterboxError(
      'STATE_DIR_INVALID',
      `The state directory ${JSON.stringify(stateDirectory)} is not absolute.`,
      { operation: 'litterbox.open', hint: 'Set LITTERBOX_HOME to an absolute path.' },
    );
  }
  const repositoryPath = repo === false ? undefined : repo;
  const heap = parts.heap ?? (await import('@litterbox/host')).localHeap();
  const sourceControl =
    parts.sourceControl ??
    (await loadSourceControl({ stateDirectory, heap, ...(repo !== false && { expectedPath: repo }) }));
  return { heap, sourceControl, stateDirectory, repositoryPath };
}

/**
 * The parts that were not given, loaded by name when they are needed: the one place where the façade knows adapters.
 * An embedder that brings all its own parts need not have these packages installed.
 */
export async function loadParts(
  { parts = {}, providers, launchKeeper, openHosts }: LitterboxOptions,
  { heap, sourceControl, stateDirectory, repositoryPath }: FirstParts,
): Promise<LitterboxParts> {
  const [host, store, forwarder, keepers] = await Promise.all([
    parts.host ??
      import('@litterbox/host').then(({ localHost }) =>
        localHost({ ...(repositoryPath !== undefined && { repository: repositoryPath }) }),
      ),
    parts.state && parts.audit
      ? undefined
      : import('@litterbox/state-sqlite').then(({ prepareStateDirectory, sqliteState }) => {
          prepareStateDirectory(stateDirectory); // before any part puts something into it
          return sqliteState({ directory: stateDirectory });
        }),
    parts.forwarder ?? import('@litterbox/host').then(({ localForwarder }) => localForwarder()),
    parts.keepers ??
      import('@litterbox/host').then(({ localKeepers }) =>
        localKeepers({ directory: `${stateDirectory}/keepers`, launch: launchKeeper }),
      ),
  ]);
  const state = parts.state ?? store?.state;
  const audit = parts.audit ?? store?.audit;
  if (!state || !audit)
    throw new LitterboxError('INTERNAL', 'The state store could not be loaded.', { operation: 'litterbox.open' });
  const clock = parts.clock ?? systemClock;
  const listed = parts.hosts ?? openHosts?.({ host, directory: stateDirectory }) ?? localHosts(host, stateDirectory);
  const hosts = withOwnMachines(listed, providers);
  const hostGauge = parts.hostGauge ?? lateGauge(hosts);
  const networkGate = parts.networkGate ?? lateGate(clock);
  const endpointGate = parts.endpointGate ?? lateEndpoints;
  const directorySync = parts.directorySync ?? lateSync;
  const secretSource = parts.secretSource ?? lateSecrets(host);
  return {
    host,
    hosts,
    hostGauge,
    sourceControl,
    state,
    audit,
    clock,
    heap,
    forwarder,
    keepers,
    networkGate,
    endpointGate,
    directorySync,
    secretSource,
  };
}

/**
 * The state directory of this user: `LITTERBOX_HOME`, else `litterbox` below `XDG_STATE_HOME` or `~/.local/state`.
 *
 * @throws LitterboxError `STATE_DIR_INVALID` when no variable names a directory.
 * @see https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function defaultStateDirectory(
  environment: Readonly<Record<string, string | undefined>> = globalThis.process?.env ?? {},
): string {
  const { LITTERBOX_HOME: own, XDG_STATE_HOME: state, HOME: home } = environment;
  if (own !== undefined && own !== '') return own;
  if (state?.startsWith('/')) return `${state}/litterbox`;
  if (home?.startsWith('/')) return `${home}/.local/state/litterbox`;
  throw new LitterboxError('STATE_DIR_INVALID', 'Neither LITTERBOX_HOME, XDG_STATE_HOME nor HOME names a directory.', {
    operation: 'litterbox.open',
    hint: 'Set LITTERBOX_HOME to an absolute path where Litterbox may keep its files.',
  });
}

/** Loaded when a sandbox may be made on several machines, which few may. */
const lateGauge = (hosts: Hosts): HostGauge => ({
  measure: async (name, options) => {
    const { machineGauge } = await import('@litterbox/host');
    return await machineGauge(hosts).measure(name, options);
  },
});

/** Loaded when a sandbox is to reach something, which few do. */
const lateGate = (clock: Clock): NetworkGate => ({
  open: async (...opening) => {
    const { networkGate } = await import('@litterbox/network-gate');
    return await networkGate({ clock, environment: globalThis.process?.env ?? {} }).open(...opening);
  },
});

/** Loaded when a sandbox has endpoints. */
const lateEndpoints: EndpointGate = {
  open: async (...opening) => {
    const { endpointGate } = await import('@litterbox/endpoints');
    return await endpointGate({ environment: globalThis.process?.env ?? {} }).open(...opening);
  },
};

/** Loaded when files are to come along to another machine. */
const lateSync: DirectorySync = {
  async sync(...what) {
    const { rsync } = await import('@litterbox/sync-rsync');
    return await rsync().sync(...what);
  },
};

/** Loaded when somebody asks for a secret. */
const lateSecrets = (host: Host): SecretSource => ({
  read: async (...what) => {
    const { hostSecrets } = await import('@litterbox/host');
    return await hostSecrets(host).read(...what);
  },
});

const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, options) =>
    new Promise((resolve, reject) => {
      const { signal } = options ?? {};
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, durationMs);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
