import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { LOCAL_HOST, parseProviderKey, type ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';

/** How long an engine or another machine may take to say what it has, or what it finds. */
export const ANSWER_MS = 3_000;

/**
 * What a provider said. It is not known what it has where its machine or its engine cannot be reached (`unreachable`), or said nothing in
 * time (`late`): it may be busy alone.
 */
export type ProviderAnswer<Value> =
  | { readonly state: 'answered'; readonly value: Value }
  | { readonly state: 'unreachable' | 'late' | 'failed'; readonly error: Error };

/** One question to a provider. */
export type ProviderQuestion<Value> = (provider: SandboxProvider, options: CallOptions) => Promise<Value>;

interface Needs {
  readonly providers: Providers;
  readonly clock: Clock;
}

/**
 * Asks several providers at once and waits for no engine and no other machine longer than {@link ANSWER_MS}. One that works with this
 * machine's kernel alone has no such limit: nobody is down who could be waited for in vain, and this machine may be busy.
 */
export class AskProviders {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
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
    const silence = async (): Promise<ProviderAnswer<Value>> => {
      await this.#needs.clock.sleep(waitMs, { signal });
      return { state: 'late', error: silent(key, waitMs) };
    };
    const asked = async (isHere: boolean): Promise<ProviderAnswer<Value>> => {
      const provider = await this.#needs.providers.get(key, { signal, waitMs: 2 * waitMs }); // its own patience ends after the one here
      const answer = ask(provider, { signal }).then((value): ProviderAnswer<Value> => ({ state: 'answered', value }));
      return await (isHere && provider.traits.isolation !== 'process' ? soonest(answer, silence()) : answer);
    };
    const isHere = parseProviderKey(key).host === LOCAL_HOST;
    try {
      return await (isHere ? asked(true) : soonest(asked(false), silence()));
    } catch (error) {
      ended?.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      return { state: isUnreached(error) ? 'unreachable' : 'failed', error };
    } finally {
      over.abort();
    }
  }
}

/** The one that ends first. What comes after it is nobody's. */
async function soonest<Value>(...all: readonly Promise<Value>[]): Promise<Value> {
  for (const one of all) one.catch(() => {});
  return await Promise.race(all);
}

/** Codes of a machine that the person has forgotten, or that lets nobody in at the moment. What it has is as it was. */
const NOT_ENTERED: readonly string[] = ['NOT_FOUND', 'PERMISSION_DENIED'];
/** For the caller that opens a machine. */
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
    hint: advice`It may only be busy: try again. ${step('machine-check')} waits longer and says what it finds. Sandboxes of ${key} have not been changed.`,
  });
}
