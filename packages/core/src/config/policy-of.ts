import { LitterboxError } from '../domain/errors/errors.ts';
import { advice, type Hint, step } from '../domain/errors/next-step.ts';
import { GATE_PORT } from '../domain/sandbox/gate-port.ts';
import type { NetworkPolicy, Policy, PortPolicy, ServicePolicy } from '../domain/sandbox/policy.ts';
import { topmostPaths } from '../domain/sandbox/included-path.ts';
import { LOCAL_HOST, parseProviderKey } from '../domain/sandbox/provider-key.ts';
import { shown } from '../domain/text/shown.ts';
import { LIMIT_KEYS, type LimitName, type ResourceLimits } from '../domain/sandbox/resource-limits.ts';
import type { SandboxRoot } from '../domain/sandbox/sandbox-root.ts';
import type { ProviderTraits } from '../ports/sandbox/sandbox-provider.ts';
import type { ConfigOverrides } from './config-overrides.ts';
import type { Config } from './config-schema.ts';
import { DEFAULT_IMAGE } from './default-image.ts';
import { endpointsOf } from './endpoints-of.ts';
import { exposedOf } from './exposed-of.ts';

/** What a sandbox may use when nobody said otherwise: enough to build, too little to stall a laptop. */
export const DEFAULT_LIMITS = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512 } as const;
/** How long a command may take when neither the caller nor the configuration names a time, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 120_000;
/** How long a setup command may take when the configuration names no time, in milliseconds. */
export const DEFAULT_SETUP_TIMEOUT_MS = 600_000;
const DEFAULT_STOP_TIMEOUT_MS = 10_000;

/** What a policy depends on besides the configuration. */
export interface PolicyFacts {
  readonly repositoryRoot: string;
  readonly providerName: string;
  readonly traits: ProviderTraits;
  /** Whether something can be installed into its images. */
  readonly canInstall: boolean;
}

/**
 * Decides once, at create, what a sandbox is allowed.
 *
 * @throws LitterboxError `UNSUPPORTED` for a key that this release or this provider cannot honour: what is asked for is
 *   done or refused, never left out.
 */
export function policyOf(config: Config, overrides: ConfigOverrides, facts: PolicyFacts): Policy {
  const [missing] = notInThisRelease(config);
  if (missing !== undefined) {
    const hint =
      missing === 'ssh'
        ? advice`Remove [ssh]. Add the machine with ${step('host-add')}, and name it: create --host NAME, or provider = "overlayfs@NAME".`
        : `Remove ${missing}.`;
    throw unsupported(facts, `${missing} is not supported by this release of Litterbox`, hint);
  }
  const ports = portsOf(config);
  const environment = { ...config.container.environment, ...overrides.environment };
  const { install } = config.container;
  const root = rootOf(config, overrides, facts);
  if (install.length > 0 && !facts.canInstall)
    throw unsupported(
      facts,
      'container.install-command is not supported',
      'Use the docker or podman provider, or remove container.install-command.',
    );
  const endpoints = endpointsOf(
    config,
    ports.map(({ inside }) => inside),
    environment,
  );
  const exposed = exposedOf(config.secrets, [
    ...Object.keys(environment),
    ...endpoints.flatMap(({ variables }) => Object.keys(variables)),
  ]);
  return {
    root,
    limits: limitsOf(config, overrides, facts),
    environment,
    ...(Object.keys(config.container.services).length > 0 && {
      services: servicesOf(config, ports),
      ...(config.container.supervisor !== 'litterbox' && { supervisor: config.container.supervisor }),
    }),
    ...(ports.length > 0 && { ports }),
    ...(endpoints.length > 0 && { endpoints }),
    ...(exposed.length > 0 && { exposed }),
    ...(install.length > 0 && { install }),
    setup: overrides.setup ?? config.container.setup,
    setupTimeoutMs: overrides.setupTimeoutMs ?? config.limits.setupTimeoutMs ?? DEFAULT_SETUP_TIMEOUT_MS,
    timeoutMs: overrides.timeoutMs ?? config.limits.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    network: networkOf(config, overrides, ports),
    playgroundScope: overrides.playgroundScope ?? config.playground.scope,
    workspaceGit: overrides.workspaceGit ?? config.workspace.git,
    worktrees: overrides.worktrees ?? config.worktrees,
    requireMessage: overrides.requireMessage ?? config.revisions.requireMessage,
    allowDegraded: overrides.allowDegraded ?? config.allowDegraded,
    ...includeOf(config, overrides, facts),
    ...strategyOf(config, facts),
    ...lowerOf(config, overrides, facts),
  };
}

/** @throws LitterboxError `UNSUPPORTED` where the provider brings nothing along. */
function includeOf({ include }: Config, overrides: ConfigOverrides, facts: PolicyFacts): Pick<Policy, 'include'> {
  const wanted = overrides.include ?? include;
  if (wanted.length === 0) return {};
  if (facts.traits.canBring) return { include: topmostPaths(wanted) };
  throw unsupported(facts, 'include is not supported', 'Leave it out, or use the overlayfs provider.');
}

/** The key is for providers that have strategies: a file may hold it for one and be used with another. */
function strategyOf({ overlayfs: { strategy }, kubernetes }: Config, facts: PolicyFacts): Pick<Policy, 'strategy'> {
  const { strategies } = facts.traits;
  if (strategies?.includes('warm-pool')) return kubernetes.pods === 'litterbox' ? {} : { strategy: kubernetes.pods };
  if (!strategies || strategy === 'auto') return {};
  if (strategies.includes(strategy)) return { strategy };
  const hint = `Choose one of: ${['auto', ...strategies].join(', ')}.`;
  throw unsupported(facts, `overlayfs.strategy = "${strategy}" is not supported`, hint);
}

/**
 * A provider that cannot stand on the working tree refuses the key: who asked for what is in that tree and not in a commit would miss it.
 */
function lowerOf(config: Config, overrides: ConfigOverrides, facts: PolicyFacts): Pick<Policy, 'lower'> {
  const { lower, strategy } = config.overlayfs;
  if ((overrides.lower ?? lower) === 'frozen') return {};
  const refused = (what: string, hint: string) => unsupported(facts, `overlayfs.lower = "live" ${what}`, hint);
  const { liveStrategies } = facts.traits;
  // Another machine may have something at that path too, which is not the person's working tree.
  if (!liveStrategies || parseProviderKey(facts.providerName).host !== LOCAL_HOST)
    throw refused('is not supported', 'Use the overlayfs provider on this machine, or write lower = "frozen".');
  if (strategy !== 'auto' && !liveStrategies.includes(strategy))
    throw refused(
      `is not supported with overlayfs.strategy = "${strategy}"`,
      `Write strategy = "${liveStrategies.join('" or "')}", or lower = "frozen".`,
    );
  return { lower: 'live' };
}

/** A number that Litterbox chooses: no program that has one of its own uses these. */
const FIRST_CHOSEN_PORT = 42_001;

function portsOf({ container }: Config): readonly PortPolicy[] {
  const entries = Object.entries(container.ports);
  const taken = new Set(entries.map(([, { target }]) => target));
  let next = FIRST_CHOSEN_PORT;
  return entries.map(([name, { target }]) => {
    while (taken.has(next)) next += 1;
    if (target === undefined) taken.add(next);
    return { name, inside: target ?? next };
  });
}

/** @throws LitterboxError `CONFIG_VALUE` for rules that open nothing, and for a port that is the proxy's. */
function networkOf(
  { network: configured }: Config,
  { network: overrides }: ConfigOverrides,
  ports: readonly PortPolicy[],
): NetworkPolicy {
  const network = { ...configured, ...overrides };
  const isOpen = network.setup !== 'none' || network.run !== 'none';
  const lists = { allow: network.allow, 'allow-private': network.allowPrivate ?? [], deny: network.deny };
  const list = Object.entries(lists).find(([, rules]) => rules.length > 0)?.[0];
  if (!isOpen && list !== undefined) {
    throw new LitterboxError('CONFIG_VALUE', `network.${list} has rules, but no network is switched on.`, {
      operation: 'config.policy',
      hint: 'Set network.setup or network.run to "allow-list", or remove the rules.',
    });
  }
  const taken = ports.find(({ inside }) => inside === GATE_PORT);
  if (isOpen && taken) {
    throw new LitterboxError(
      'CONFIG_VALUE',
      `container.ports.${taken.name}: the proxy of the network listens on ${GATE_PORT}.`,
      { operation: 'config.policy', hint: 'Choose another number.' },
    );
  }
  return network;
}

/** In an order in which each comes after those that it waits for; there is one, or the file was refused. */
function servicesOf({ container }: Config, ports: readonly PortPolicy[]): readonly ServicePolicy[] {
  const services = new Map<string, ServicePolicy>();
  const add = (name: string) => {
    const service = container.services[name];
    if (!service || services.has(name)) return;
    for (const before of service.after ?? []) add(before);
    const {
      command,
      signals,
      restart = 'on-failure',
      health,
      after = [],
      stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS,
    } = service;
    services.set(name, {
      name,
      command,
      signals,
      restart,
      after,
      stopTimeoutMs,
      ...(health && { health: 'port' in health ? { port: portNumber(name, health.port, ports) } : health }),
    });
  };
  for (const name of Object.keys(container.services)) add(name);
  return [...services.values()];
}

function portNumber(service: string, port: string | number, ports: readonly PortPolicy[]): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({ name }) => name === port);
  if (named) return named.inside;
  throw new LitterboxError(
    'CONFIG_VALUE',
    `container.services.${service}.health.port: there is no port ${shown(port)} in container.ports.`,
    { operation: 'config.policy', hint: 'Name one of container.ports, or write its number.' },
  );
}

/** Keys that are read, so that a file is not refused by every release, and that nothing acts upon yet. */
function notInThisRelease(config: Config): readonly string[] {
  const asked: readonly (readonly [key: string, isAsked: boolean])[] = [
    ['ssh', config.ssh !== undefined],
    ['retention.max-age', config.retention.maxAgeMs !== undefined],
    ['retention.max-sandboxes', config.retention.maxSandboxes !== undefined],
    ['retention.max-disk', config.retention.maxDiskBytes !== undefined],
  ];
  return asked.filter(([, isAsked]) => isAsked).map(([key]) => key);
}

function rootOf(config: Config, overrides: ConfigOverrides, facts: PolicyFacts): SandboxRoot {
  const { baseImage } = config.container;
  const { rootfs } = config.overlayfs;
  const { roots } = facts.traits;
  if (overrides.root) {
    if (roots.includes(overrides.root.type)) return overrides.root;
    throw unsupported(
      facts,
      `A root of type ${overrides.root.type} is not supported`,
      overrides.root.type === 'image'
        ? 'Choose a provider that has images: --provider podman or --provider docker.'
        : `Choose one of: ${roots.join(', ')}.`,
    );
  }
  // The image is for engines, the directory for copy-on-write: a file may name both, one for each.
  if (baseImage !== undefined && roots.includes('image')) return { type: 'image', reference: baseImage };
  if (rootfs !== undefined && roots.includes('directory')) return { type: 'directory', path: rootfs };
  if (baseImage !== undefined) {
    const hint = 'Use the docker or podman provider, set overlayfs.rootfs, or remove container.base-image.';
    throw unsupported(facts, 'container.base-image is not supported', hint);
  }
  if (rootfs !== undefined && !roots.includes('image')) {
    throw unsupported(facts, 'overlayfs.rootfs is not supported', 'Remove it, or use the overlayfs provider.');
  }
  if (roots.includes('machine')) return { type: 'machine' };
  if (roots.includes('image')) return { type: 'image', reference: DEFAULT_IMAGE };
  throw unsupported(facts, 'A sandbox without overlayfs.rootfs is not supported', 'Set overlayfs.rootfs.');
}

function limitsOf(config: Config, overrides: ConfigOverrides, facts: PolicyFacts): ResourceLimits {
  const limits: { -readonly [Name in LimitName]?: number } = {};
  for (const name of Object.keys(LIMIT_KEYS) as LimitName[]) {
    const asked = overrides.limits?.[name] ?? config.limits[name];
    if (facts.traits.limits.includes(name)) {
      const fallback: Partial<Record<LimitName, number>> = DEFAULT_LIMITS;
      const value = asked ?? fallback[name];
      if (value !== undefined) limits[name] = value;
    } else if (asked !== undefined) {
      const key = LIMIT_KEYS[name];
      throw facts.traits.rootLimits?.includes(name)
        ? unsupported(
            facts,
            `${key} can be enforced by root alone`,
            advice`Run Litterbox as root, or leave out ${key}. ${step('machine-check')} says what else there is.`,
          )
        : unsupported(facts, `${key} is not supported`, `Remove ${key}, or use another provider.`);
    }
  }
  return limits;
}

function unsupported(facts: PolicyFacts, what: string, hint: Hint): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `${what} (provider ${facts.providerName}).`, {
    operation: 'config.policy',
    provider: facts.providerName,
    hint,
  });
}
