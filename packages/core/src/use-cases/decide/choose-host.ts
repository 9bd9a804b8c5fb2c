import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { hostNames } from '../../domain/sandbox/host-names.ts';
import { placementLines } from '../../domain/sandbox/placement-lines.ts';
import {
  type HostAnswer,
  type PlacedHost,
  type Placement,
  rankHosts,
  withVerdict,
} from '../../domain/sandbox/placement.ts';
import { parseProviderKey, type ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { SandboxRoot } from '../../domain/sandbox/sandbox-root.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { HostGauge } from '../../ports/machine/host-gauge.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { CHOICE_MS, type ChooseProvider } from './choose-provider.ts';
import { namesHost } from '../common/names-host.ts';

/** The facts by which a host is chosen for a new sandbox. */
export interface HostRequest {
  readonly provider: ProviderKey | undefined;
  /** Names of machines to choose from. @defaultValue the one of the provider, else those that are preferred */
  readonly hosts: readonly string[] | undefined;
  /** The setting that names the provider. Absent where a caller does. */
  readonly providerFrom?: string | undefined;
  /** The source of its programs, where somebody named one. */
  readonly root?: SandboxRoot['type'] | undefined;
  readonly need: Pick<Placement, 'memoryBytes' | 'isAsked'>;
}

/** Where it is made, and why there when it was chosen among several machines. */
export interface ChosenHost {
  readonly provider: SandboxProvider;
  readonly placement?: Placement;
}

interface Needs {
  readonly hostGauge: HostGauge;
  readonly state: StateStore;
  readonly chooseProvider: ChooseProvider;
  readonly clock: Clock;
}

/** Chooses the machine and the provider of a new sandbox, once. A sandbox that exists is never moved. */
export class ChooseHost {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * One machine is taken as it is. Of several, all are asked at once for ten seconds at most; one that says nothing by then is passed over,
   * and so is one on which no provider works.
   *
   * @throws LitterboxError `RESOURCE_EXHAUSTED` when none has the memory that was asked for; `UNAVAILABLE` when none answers, or no provider
   *   works on those that do; `INVALID_ARGUMENT` and `NOT_FOUND` for a name that is none, `CONFIG_VALUE` where a setting has it
   */
  async choose(input: HostRequest, options?: ProgressOptions): Promise<ChosenHost> {
    try {
      return await this.#placeOnHost(input, options);
    } catch (error) {
      throw ofSetting(error, input);
    }
  }

  async #placeOnHost(input: HostRequest, options?: ProgressOptions): Promise<ChosenHost> {
    const { provider, root, need } = input;
    const names = await this.#listCandidates(input, options);
    if (names === undefined || names.length === 1)
      return { provider: await this.#needs.chooseProvider.choose(provider, options, root, names?.[0]) };
    options?.onProgress?.({ step: 'place', message: `Asking ${names.join(', ')} for room` });
    const records = await this.#needs.state.list(undefined, options);
    const answers = await Promise.all(names.map((host) => this.#answer(host, records, options)));
    return await this.#takeBest(input, { ...need, hosts: rankHosts(answers, need) }, options);
  }

  async #listCandidates(
    { provider, hosts }: HostRequest,
    options?: CallOptions,
  ): Promise<readonly string[] | undefined> {
    if (hosts !== undefined) return hostNames(hosts);
    if (namesHost(provider)) return undefined;
    const preferred = await this.#needs.chooseProvider.listPreferred(options);
    return preferred.length === 0 ? undefined : hostNames(preferred);
  }

  /** The best machine on which a provider works. */
  async #takeBest({ provider, root }: HostRequest, ranked: Placement, options?: ProgressOptions): Promise<ChosenHost> {
    const hosts: PlacedHost[] = [...ranked.hosts];
    for (const [index, one] of hosts.entries()) {
      if (one.verdict !== 'spare') continue;
      try {
        const usable = await this.#needs.chooseProvider.listUsable(provider, options, root, one.host);
        hosts[index] = withVerdict(one, 'chosen');
        options?.onProgress?.({ step: 'place', message: `Taking ${one.host}` });
        return { provider: usable, placement: { ...ranked, hosts } };
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!isLitterboxError(error, 'UNAVAILABLE')) throw error;
        hosts[index] = withVerdict(one, 'unusable', saidBy(error));
      }
    }
    throw noRoom({ ...ranked, hosts });
  }

  async #answer(host: string, records: readonly SandboxRecord[], options?: CallOptions): Promise<HostAnswer> {
    const { signal: ended } = options ?? {};
    const over = new AbortController();
    const signal = ended ? AbortSignal.any([over.signal, ended]) : over.signal;
    const silence = this.#needs.clock.sleep(CHOICE_MS, { signal }).then((): HostAnswer => {
      return { host, silence: `it did not answer within ${CHOICE_MS / 1000} seconds` };
    });
    const answer = this.#needs.hostGauge
      .measure(host, { signal })
      .then((load): HostAnswer => ({ host, load, promisedBytes: promisedOn(host, records) }));
    for (const late of [silence, answer]) late.catch(() => {}); // what comes after the other is nobody's
    try {
      return await Promise.race([answer, silence]);
    } catch (error) {
      ended?.throwIfAborted();
      // A name that is none is a mistake of whoever wrote it, and no machine that is down.
      if (
        !isLitterboxError(error) ||
        isLitterboxError(error, 'INVALID_ARGUMENT') ||
        isLitterboxError(error, 'NOT_FOUND')
      )
        throw error;
      return { host, silence: saidBy(error) };
    } finally {
      over.abort();
    }
  }
}

/** Where a setting names a provider that there is not, the error names the setting. */
function ofSetting(error: unknown, { providerFrom }: HostRequest): unknown {
  if (providerFrom === undefined || !isLitterboxError(error, 'INVALID_ARGUMENT')) return error;
  if (error.details.operation !== 'provider.find') return error;
  return new LitterboxError('CONFIG_VALUE', `${providerFrom}: ${error.message}`, error.details);
}

/** The sum of the limits of the sandboxes there. */
function promisedOn(host: string, records: readonly SandboxRecord[]): number {
  const there = records.filter(
    ({ provider, state }) => parseProviderKey(provider).host === host && state !== 'stopped' && state !== 'deleting',
  );
  return there.reduce((sum, { policy }) => sum + (policy.limits.memoryBytes ?? 0), 0);
}

const saidBy = ({ message, details }: LitterboxError): string =>
  details.hint === undefined ? message : `${message} ${details.hint}`;

function noRoom(placement: Placement): LitterboxError {
  const { hosts, memoryBytes } = placement;
  const isTooSmall = hosts.some(({ verdict }) => verdict === 'too-small');
  const lines = placementLines(placement);
  return new LitterboxError(
    isTooSmall ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE',
    `${isTooSmall ? 'No host has room for the sandbox' : 'No sandbox can be made on any of the hosts'}. ${lines.join('; ')}`,
    {
      operation: 'sandbox.place',
      hint: isTooSmall
        ? 'Ask for less memory (--memory), stop or delete sandboxes, or name another host.'
        : advice`See what ${step('machine-check', { host: 'NAME' })} says of each, or name another host.`,
      facts: { memoryBytes, hosts },
    },
  );
}
