import {
  type Clock,
  type Hosts,
  LitterboxError,
  LOCAL_HOST,
  parseProviderKey,
  type ProviderFactory,
  type ProviderKey,
  type ProviderLoader,
  providerKey,
  type Providers,
  type SandboxProvider,
  shown,
  type WaitOptions,
} from '@litterbox/core/agent';
import { closeAll } from './close-all.ts';

/** A provider, what makes one, or what loads that. */
export type ProviderSource = SandboxProvider | ProviderFactory | ProviderLoader;

export interface ProvidersInput {
  /** In order of preference. */
  readonly sources: readonly ProviderSource[];
  readonly hosts: Hosts;
  readonly clock: Clock;
}

/** Of who has work to do: a machine that is slow is not down. */
const WAIT_MS = 30_000;

/**
 * The providers of one instance. A factory does not say what it makes, so that its provider for this machine is made at once; one that
 * is loaded by its kind is when somebody asks for it.
 *
 * @throws LitterboxError `INVALID_ARGUMENT` when two have one key, or one has a key that is none.
 */
export async function openProviders({ sources, hosts, clock }: ProvidersInput): Promise<Providers> {
  const made = new Map<ProviderKey, SandboxProvider>();
  const kinds = new Map<string, () => Promise<ProviderFactory>>();
  const all: ProviderKey[] = [];
  const preferred: ProviderKey[] = [];
  const placed = new Set<string>();
  for (const source of sources) {
    const isFactory = typeof source === 'function';
    const provider = isFactory ? await makeHere(source, hosts) : source;
    const key = 'load' in provider ? provider.kind : provider.name;
    const { kind } = parseProviderKey(key);
    if (all.includes(key)) throw calledTheSame(key);
    all.push(key);
    if ('load' in provider && provider.hasOwnPlaces) placed.add(kind);
    else preferred.push(key);
    if ('load' in provider) kinds.set(kind, () => provider.load());
    else made.set(key, provider);
    if (isFactory) kinds.set(kind, async () => source);
  }
  return new OpenedProviders({ all, preferred, made, kinds, placed, hosts, clock });
}

async function makeHere(factory: ProviderFactory, hosts: Hosts): Promise<SandboxProvider> {
  const { host, directory } = await hosts.open(LOCAL_HOST);
  return factory({ host, directory, facts: await host.facts() });
}

interface OpenedInput {
  readonly all: readonly ProviderKey[];
  readonly preferred: readonly ProviderKey[];
  readonly made: ReadonlyMap<ProviderKey, SandboxProvider>;
  readonly kinds: ReadonlyMap<string, () => Promise<ProviderFactory>>;
  /** Kinds whose keys name places of their own. */
  readonly placed: ReadonlySet<string>;
  readonly hosts: Hosts;
  readonly clock: Clock;
}

class OpenedProviders implements Providers {
  readonly preferred: readonly ProviderKey[];
  readonly #all: readonly ProviderKey[];
  readonly #kinds: OpenedInput['kinds'];
  readonly #placed: OpenedInput['placed'];
  readonly #hosts: Hosts;
  readonly #clock: Clock;
  readonly #opening = new Map<ProviderKey, Promise<SandboxProvider>>();
  readonly #opened = new Set<SandboxProvider>();
  #closing: Promise<void> | undefined;

  constructor({ all, preferred, made, kinds, placed, hosts, clock }: OpenedInput) {
    this.#all = all;
    this.preferred = preferred;
    this.#kinds = kinds;
    this.#placed = placed;
    this.#hosts = hosts;
    this.#clock = clock;
    for (const [key, provider] of made) {
      this.#opened.add(provider);
      this.#opening.set(key, Promise.resolve(provider));
    }
  }

  hasOwnPlaces(kind: string): boolean {
    return this.#placed.has(kind);
  }

  async get(key: ProviderKey, options: WaitOptions = {}): Promise<SandboxProvider> {
    const { signal, onProgress, waitMs = WAIT_MS } = options;
    const isAtWork = options.waitMs === undefined;
    signal?.throwIfAborted();
    if (this.#closing) throw disposed(key);
    if (isAtWork && !this.#opening.has(key)) await this.#wake(key, { signal, onProgress });
    const opening = this.#opening.get(key) ?? this.#open(key);
    if (parseProviderKey(key).host === LOCAL_HOST) return await opening; // this machine answers, however busy it is
    const over = new AbortController();
    const patience = this.#clock
      .sleep(waitMs, { signal: signal ? AbortSignal.any([over.signal, signal]) : over.signal })
      .then(() => {
        throw silent(key, waitMs);
      });
    patience.catch(() => {}); // it is ended below
    try {
      return await Promise.race([opening, patience]);
    } finally {
      over.abort();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= closeAll([
      ...[...this.#opened].map((provider) => () => provider[Symbol.asyncDispose]()),
      () => this.#hosts[Symbol.asyncDispose](),
    ]);
    return this.#closing;
  }

  /** Who only looks starts no machine. */
  async #wake(key: ProviderKey, options: WaitOptions): Promise<void> {
    const { kind, host } = parseProviderKey(key);
    if (this.#kinds.has(kind) && !this.#placed.has(kind)) await this.#hosts.wake?.(host, options);
  }

  #open(key: ProviderKey): Promise<SandboxProvider> {
    const opening = this.#make(key);
    this.#opening.set(key, opening);
    opening.catch(() => this.#opening.delete(key));
    return opening;
  }

  async #make(key: ProviderKey): Promise<SandboxProvider> {
    const { kind, host: name } = parseProviderKey(key);
    const load = this.#kinds.get(kind);
    if (!load) throw this.#unknown(key);
    const [factory, { host, facts, directory }] = await Promise.all([
      load(),
      this.#machine(this.#placed.has(kind) ? LOCAL_HOST : name),
    ]);
    const provider = factory({ key: providerKey({ kind, host: name }), host, facts, directory });
    if (this.#closing) {
      await provider[Symbol.asyncDispose]();
      throw disposed(key);
    }
    this.#opened.add(provider);
    return provider;
  }

  async #machine(name: string) {
    const { host, directory } = await this.#hosts.open(name);
    return { host, directory, facts: await host.facts() };
  }

  #unknown(key: ProviderKey): LitterboxError {
    return new LitterboxError('INVALID_ARGUMENT', `There is no provider ${shown(key)}.`, {
      operation: 'provider.find',
      hint: `There are: ${this.#all.join(', ') || 'none'}.`,
    });
  }
}

function calledTheSame(key: ProviderKey): LitterboxError {
  return new LitterboxError('INVALID_ARGUMENT', `Two providers are called ${key}.`, {
    operation: 'litterbox.open',
    provider: key,
    hint: 'Give one of them a key of its own: its factory takes one, such as overlayfs({ ...machine, key: "mine" }).',
  });
}

function silent(key: ProviderKey, waitMs: number): LitterboxError {
  return new LitterboxError('UNAVAILABLE', `The machine of ${key} did not answer within ${waitMs / 1000} seconds.`, {
    operation: 'provider.open',
    provider: key,
    hint: 'Check whether it is up and can be reached, then try again.',
  });
}

function disposed(key: ProviderKey): LitterboxError {
  return new LitterboxError('DISPOSED', `The provider ${key} was asked for after everything was closed.`, {
    operation: 'provider.open',
    provider: key,
  });
}
