import { advice, type Hint, isLitterboxError, LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';
import { type EngineAddress, showAddress } from '../address/engine-address.ts';
import { tlsFailure } from '../address/tls-failure.ts';

export interface EngineWords {
  /** The provider's key, for error details. */
  readonly provider: ProviderKey;
  /** The engine's own command: `docker`. */
  readonly kind: string;
  /** As people write it: `Docker`. */
  readonly title: string;
  /** How to start it, one sentence. */
  readonly startHint: string;
  /** How to be let in, one sentence. */
  readonly permissionHint: string;
}

/**
 * What an engine's answer, or its silence, means for who asked. Its words are untrusted text.
 *
 * @param address `undefined` where it was not found yet
 */
export function engineError(
  words: EngineWords,
  operation: string,
  address: EngineAddress | undefined,
  error: unknown,
): LitterboxError {
  const { provider, title } = words;
  const details = { operation, provider };
  const options = { cause: error };
  if (error instanceof LitterboxError && !isLitterboxError(error, 'NOT_FOUND') && !isSocketError(error)) return error;
  const { statusCode, said } = answerOf(error);
  if (statusCode === undefined) {
    const place = address ? showAddress(address) : 'its address';
    const isForbidden = isLitterboxError(error, 'PERMISSION_DENIED') || said.includes('EACCES');
    if (isForbidden && address?.type === 'unix')
      return new LitterboxError(
        'UNAVAILABLE',
        `The socket of ${title}, ${place}, cannot be opened by this user.`,
        {
          ...details,
          hint: words.permissionHint,
        },
        options,
      );
    const failure = tlsFailure(error);
    const isSilent = ['TimeoutError', 'AbortError'].includes((error as Partial<Error> | undefined)?.name ?? '');
    return new LitterboxError(
      'UNAVAILABLE',
      isSilent
        ? `${title} does not answer at ${place}.`
        : `${title} cannot be reached at ${place}: ${failure?.why ?? shown(said === '' ? 'no reason given' : said)}.`,
      {
        ...details,
        hint:
          failure?.hint ??
          advice`${isSilent ? 'It may only be busy: try again. ' : ''}${reachHint(words, address, error)}`,
        facts: { isSilent },
      },
      options,
    );
  }
  const isFull = /no space left on device|disk quota exceeded/i.test(said);
  return new LitterboxError(
    isFull ? 'DISK_FULL' : statusCode === 404 ? 'NOT_FOUND' : 'UNAVAILABLE',
    `${title} refused ${operation} (${statusCode}): ${shown(said)}.`,
    {
      ...details,
      hint: isFull
        ? `Free some space where ${title} keeps its data, then try again.`
        : `Try again; if it happens again, look at what ${title} logged.`,
      facts: { statusCode },
    },
    options,
  );
}

/** What to do about an engine that is not reached. */
function reachHint({ startHint, title }: EngineWords, address: EngineAddress | undefined, error: unknown): Hint {
  if (address?.type === 'tcp')
    return `Check whether ${title} runs there and listens on that port, and whether a firewall is in between.`;
  const ofMachine =
    address?.type === 'ssh' && error instanceof LitterboxError ? (error.details.next ?? error.details.hint) : undefined;
  return ofMachine ?? startHint;
}

/** The status of an answer, when the engine gave one, and its words. */
export function answerOf(error: unknown): { readonly statusCode: number | undefined; readonly said: string } {
  const { statusCode, json, message } = (error ?? {}) as {
    readonly statusCode?: number;
    readonly json?: { readonly message?: string };
    readonly message?: string;
  };
  return { statusCode, said: (json?.message ?? message ?? String(error)).trim().slice(0, 1000) };
}

function isSocketError(error: LitterboxError): boolean {
  return ['UNAVAILABLE', 'PERMISSION_DENIED'].includes(error.code) && error.details.operation === 'host.connect';
}
