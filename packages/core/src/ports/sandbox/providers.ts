import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { ProgressOptions } from '../common/call.ts';
import type { Host, HostFacts } from '../machine/host.ts';
import type { SandboxProvider } from './sandbox-provider.ts';

/** A machine that a provider is made for. It has answered, so that what depends on it can be told. */
export interface ProviderMachine {
  /** The name for the provider. @defaultValue its kind alone */
  readonly key?: ProviderKey;
  readonly host: Host;
  readonly facts: HostFacts;
  /** Absolute directory on that machine in which the provider makes its own. */
  readonly directory: string;
}

/** Makes a provider for a machine. Does no I/O: all that its traits depend on is in the facts. */
export type ProviderFactory = (machine: ProviderMachine) => SandboxProvider;

/** A provider that is loaded when somebody asks for it. */
export interface ProviderLoader {
  /** The part before the `@` of its keys: `docker`. */
  readonly kind: string;
  /**
   * The part behind the `@` of its keys is a place of its own, such as a cluster, and no machine: it is made for this machine. It is used only by
   * who names it: nobody's work lands on a team's cluster because nothing else was there.
   */
  readonly hasOwnPlaces?: true;
  load(): Promise<ProviderFactory>;
}

/** How long a machine may take. */
export interface WaitOptions extends ProgressOptions {
  /** For a caller that only looks: no machine is started then. @defaultValue 30,000, once a machine that was switched off is up */
  readonly waitMs?: number;
}

/**
 * Providers port: the providers that this program has, by key. Each is made when it is asked for, once, and lives until this is
 * disposed. Disposing it disposes them, and waits for no machine that has not answered.
 */
export interface Providers extends AsyncDisposable {
  /** Best first, for who names none. Looks at no machine. */
  readonly preferred: readonly ProviderKey[];

  /** Whether a kind has {@link ProviderLoader.hasOwnPlaces}: it is on no machine. Absent: none has. */
  hasOwnPlaces?(kind: string): boolean;

  /**
   * Loads the provider, connects to its machine and asks that for its facts; one that failed is tried again by the next call. A caller
   * that gives up ends nothing for others that wait for the same.
   *
   * @throws LitterboxError `INVALID_ARGUMENT` for what is no key, and for a kind or a machine that there is not, with those that there
   *   are; `UNAVAILABLE` when another machine does not answer within `waitMs`.
   */
  get(key: ProviderKey, options?: WaitOptions): Promise<SandboxProvider>;
}
