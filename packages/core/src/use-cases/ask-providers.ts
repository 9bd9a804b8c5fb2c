import { isLitterboxError, LitterboxError } from '../domain/errors.ts';
import type { ProviderKey } from '../domain/provider-key.ts';
import type { CallOptions } from '../ports/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { Providers } from '../ports/providers.ts';
import type { SandboxProvider } from '../ports/sandbox-provider.ts';

/** How long a provider may take to say what it has, or what it finds. */
export const ANSWER_MS = 3_000;

/** What a provider said. `unreachable`: it is not known what it has, for its machine or its engine does not answer. */
export type ProviderAnswer<Value> =
  | { readonly state: 'answered'; readonly value: Value }
  | { readonly state: 'unreachable' | 'failed'; readonly error: Error };

/** One question to a provider. */
export type ProviderQuestion<Value> = (provider: SandboxProvider, options: CallOptions) => Promise<Value>;

/** Asks several providers at once and waits for none of them longer than {@link ANSWER_MS}, whatever it does. */
export class AskProviders {
  readonly #providers: Providers;
  readonly #clock: Clock;

  constructor(providers: Providers, clock: Clock) {
    this.#providers = providers;
    this.#clock = clock;
  }

  /** Rejects for no provider's sake, only with the caller's own reason. */
  async each<Value>(
    keys: Iterable<ProviderKey>,
    ask: ProviderQuestion<Value>,
    options?: CallOptions,
  ): Promise<ReadonlyMap<ProviderKey, ProviderAnswer<Value>>> {
    const answers = [...new Set(keys)].map(async (key) => [key, await this.one(key, ask, options)] as const);
    return new Map(await Promise.all(answers));
  }

  /** As {@link each}, of one. */
  async one<Value>(
    key: ProviderKey,
    ask: ProviderQuestion<Value>,
    options?: CallOptions & { readonly waitMs?: number },
  ): Promise<ProviderAnswer<Value>> {
    const { signal: ended, waitMs = ANSWER_MS } = options ?? {};
    ended?.throwIfAborted();
    const over = new AbortController();
    const signal = ended ? AbortSignal.any([over.signal, ended]) : over.signal;
    const silence = this.#clock.sleep(waitMs, { signal }).then((): ProviderAnswer<Value> => {
      return { state: 'unreachable', error: silent(key, waitMs) };
    });
    const answer = this.#providers
      .get(key, { signal, waitMs })
      .then((provider) => ask(provider, { signal }))
      .then((value): ProviderAnswer<Value> => ({ state: 'answered', value }));
    // What comes after the other has ended is nobody's.
    for (const late of [silence, answer]) late.catch(() => {});
    try {
      return await Promise.race([answer, silence]);
    } catch (error) {
      ended?.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      return { state: isUnreached(error) ? 'unreachable' : 'failed', error };
    } finally {
      over.abort();
    }
  }
}

/** Codes of a machine that the person has forgotten, or that lets nobody in at the moment. What it has is as it was. */
const NOT_ENTERED: readonly string[] = ['NOT_FOUND', 'PERMISSION_DENIED'];
/** Of whoever opens a machine. */
const ENTERING: readonly (string | undefined)[] = ['host.open', 'host.connect'];

function isUnreached(error: Error): boolean {
  if (!isLitterboxError(error)) return false;
  const { code, details } = error;
  return code === 'UNAVAILABLE' || (NOT_ENTERED.includes(code) && ENTERING.includes(details.operation));
}

function silent(key: ProviderKey, waitMs: number): LitterboxError {
  return new LitterboxError('UNAVAILABLE', `The provider ${key} did not answer within ${waitMs / 1000} seconds.`, {
    operation: 'provider.ask',
    provider: key,
    hint: 'Try again when its machine or its engine is up; what it has is as it was. If that is gone for good: litterbox delete NAME --forget.',
  });
}
