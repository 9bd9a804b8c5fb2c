import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import {
  isHostName,
  LOCAL_HOST,
  normalHostName,
  parseProviderKey,
  type ProviderKey,
  providerKey,
} from '../../domain/sandbox/provider-key.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRoot } from '../../domain/sandbox/sandbox-root.ts';
import type { Hosts } from '../../ports/machine/hosts.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { ProbeReport, SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { AskProviders, ProviderAnswer } from '../common/ask-providers.ts';
import { namesHost } from '../common/names-host.ts';

/** One provider's findings on its machine. */
export interface ProviderReport {
  readonly provider: ProviderKey;
  readonly report: ProbeReport;
}

/** Longer than for a look: who takes the next provider only because the best one is slow gets another isolation. */
export const CHOICE_MS = 10_000;
/** Longer still: a person waits for what is found. */
const CHECK_MS = 20_000;

interface Needs {
  readonly providers: Providers;
  readonly askProviders: AskProviders;
  readonly hosts: Pick<Hosts, 'preferred'>;
}

/** The provider that was asked for, or the first usable one that can do what was asked; the reasons of all refusals otherwise. */
export class ChooseProvider {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Every provider's findings on its machine, in order of preference. One that does not answer is not usable, and says so.
   *
   * @param named of the user's machines, instead of the one that each provider is for
   * @param wanted the only one that is asked, also where nobody would take it who names none
   */
  async listReports(
    options?: ProgressOptions,
    named?: string,
    wanted?: ProviderKey,
  ): Promise<readonly ProviderReport[]> {
    const host = await this.#hostFor(wanted, named, options);
    const keys = wanted === undefined ? this.#preferred(host) : [onHost(wanted, host)];
    options?.onProgress?.({ step: 'probe', message: `Asking ${keys.join(', ')}` });
    // One connection is made first and serves all.
    if (host !== undefined && keys[0] !== undefined) await this.#needs.providers.get(keys[0], options);
    return await Promise.all(
      keys.map(async (provider) => ({ provider, report: reportOf(await this.#probe(provider, options, CHECK_MS)) })),
    );
  }

  /**
   * @param root what the sandbox is to have its programs from: where nobody names a provider, those that can are looked at
   * @param named of the user's machines, where nobody names a provider with its own
   */
  async choose(
    wanted: ProviderKey | undefined,
    options?: ProgressOptions,
    root?: SandboxRoot['type'],
    named?: string,
  ): Promise<SandboxProvider> {
    const host = await this.#hostFor(wanted, named, options);
    if (wanted !== undefined) return await this.#needs.providers.get(onHost(wanted, host), options);
    const all = this.#preferred(host);
    if (host !== undefined && all[0] !== undefined) await this.#needs.providers.get(all[0], options);
    const able = root === undefined ? all : await this.#able(all, root, options);
    // With one provider there is nothing to choose, and `create` itself says what is missing. Where none is able the policy says it.
    const [best, ...others] = able.length > 0 ? able : all;
    if (best !== undefined && others.length === 0) return await this.#needs.providers.get(best, options);
    const refusals: string[] = [];
    // The best one alone, for nearly always it is usable: to load and to ask the others costs more than it does.
    for (const keys of [best === undefined ? [] : [best], others]) {
      const reports = await Promise.all(
        keys.map(async (key) => [key, reportOf(await this.#probe(key, options))] as const),
      );
      const usable = reports.find(([, report]) => report.usable);
      if (usable) return await this.#needs.providers.get(usable[0], options);
      refusals.push(...reports.map(([key, report]) => `${key}: ${refusalOf(report)}`));
    }
    throw new LitterboxError(
      'UNAVAILABLE',
      able.length === all.length
        ? `No provider works on ${host ?? 'this machine'}.`
        : `No provider with a root of type ${root} works on ${host ?? 'this machine'}.`,
      {
        operation: 'sandbox.create',
        hint: refusals.join('; ') || 'Give createLitterbox a provider.',
      },
    );
  }

  /**
   * As {@link choose}, and one that is asked for has to be usable too: for who has other machines to go to.
   *
   * @throws LitterboxError `UNAVAILABLE` when none is
   */
  async listUsable(
    wanted: ProviderKey | undefined,
    options: ProgressOptions | undefined,
    root: SandboxRoot['type'] | undefined,
    host: string,
  ): Promise<SandboxProvider> {
    const provider = await this.choose(wanted, options, root, host);
    const report = reportOf(await this.#probe(provider.name, options));
    if (report.usable) return provider;
    throw new LitterboxError('UNAVAILABLE', `${provider.name} cannot be used: ${refusalOf(report)}.`, {
      operation: 'sandbox.create',
      provider: provider.name,
    });
  }

  /** The machines for who names none, the best first; none is this one. */
  async listPreferred(options?: CallOptions): Promise<readonly string[]> {
    return (await this.#needs.hosts.preferred?.(options)) ?? [];
  }

  /** The machine that was named, else, unless the provider says its own, the one for who names none. */
  async #hostFor(
    wanted: ProviderKey | undefined,
    named: string | undefined,
    options?: CallOptions,
  ): Promise<string | undefined> {
    if (wanted !== undefined && this.#isOnNoMachine(wanted)) {
      if (named === undefined) return undefined;
      throw new LitterboxError('INVALID_ARGUMENT', `${shown(wanted)} is on no machine, and a host was named.`, {
        operation: 'provider.find',
        provider: wanted,
        hint: 'Leave the host out. A place of the provider stands behind its kind, such as kubernetes@CONTEXT.',
      });
    }
    if (named !== undefined) return normalHostName(named);
    return namesHost(wanted) ? undefined : (await this.listPreferred(options))[0];
  }

  /** A key that is none is told by whoever looks for the provider. */
  #isOnNoMachine(key: ProviderKey): boolean {
    const [kind = ''] = key.split('@', 1);
    return this.#needs.providers.hasOwnPlaces?.(kind) === true;
  }

  async #probe(
    key: ProviderKey,
    { signal }: CallOptions = {},
    waitMs = CHOICE_MS,
  ): Promise<ProviderAnswer<ProbeReport>> {
    return await this.#needs.askProviders.one(key, (provider, call) => provider.probe(call), { signal, waitMs });
  }

  /** The kinds in order of preference, on that machine. */
  #preferred(host: string | undefined): readonly ProviderKey[] {
    const { preferred } = this.#needs.providers;
    if (host === undefined) return preferred;
    return [...new Set(preferred.map((key) => onHost(parseProviderKey(key).kind, host)))];
  }

  async #able(
    keys: readonly ProviderKey[],
    root: SandboxRoot['type'],
    options?: CallOptions,
  ): Promise<readonly ProviderKey[]> {
    const answers = await this.#needs.askProviders.each(
      keys,
      async ({ traits }) => traits.roots.includes(root),
      options,
    );
    return [...answers].filter(([, answer]) => answer.state === 'answered' && answer.value).map(([key]) => key);
  }
}

function reportOf(answer: ProviderAnswer<ProbeReport>): ProbeReport {
  if (answer.state === 'answered') return answer.value;
  const { message } = answer.error;
  if (answer.state === 'late') {
    const remedy = 'It may only be busy: try again, or check that it works without Litterbox, as with docker info.';
    return { usable: false, checks: [{ name: 'answer', status: 'warning', finding: message, remedy }] };
  }
  const { hint = 'Check the machine again when it is up.' } =
    answer.error instanceof LitterboxError ? answer.error.details : {};
  return { usable: false, checks: [{ name: 'answer', status: 'failed', finding: message, remedy: hint }] };
}

function refusalOf({ checks }: ProbeReport): string {
  const failed = checks.filter(({ status }) => status === 'failed');
  return (
    (failed.length > 0 ? failed : checks.filter(({ status }) => status === 'warning'))
      .map(({ finding, remedy }) => (remedy === undefined ? finding : `${finding} (${remedy})`))
      .join(', ') || 'it does not say why'
  );
}

/** @throws LitterboxError `INVALID_ARGUMENT` for what is no name of a machine, and where the key names another one */
function onHost(key: ProviderKey, host: string | undefined): ProviderKey {
  if (host === undefined) return key;
  if (!isHostName(host)) {
    throw new LitterboxError('INVALID_ARGUMENT', `There is no host ${shown(host)}.`, {
      operation: 'provider.find',
      hint: advice`See ${step('host-list')}.`,
    });
  }
  const named = parseProviderKey(key);
  if (named.host === LOCAL_HOST || named.host === host) return providerKey({ kind: named.kind, host });
  throw new LitterboxError('INVALID_ARGUMENT', `${key} names the machine ${named.host}, but the host is ${host}.`, {
    operation: 'provider.find',
    hint: `Name the host once: ${named.kind}@${host}.`,
  });
}
