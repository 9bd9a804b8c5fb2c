import { isLitterboxError, LitterboxError, type ProviderKey, shown } from '@litterbox/core/provider';

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

/** What an engine's answer, or its silence, means for who asked. Its words are untrusted text. */
export function engineError(words: EngineWords, operation: string, socket: string, error: unknown): LitterboxError {
  const { provider, title } = words;
  const details = { operation, provider };
  const options = { cause: error };
  if (error instanceof LitterboxError && !isLitterboxError(error, 'NOT_FOUND') && !isSocketError(error)) return error;
  const { statusCode, said } = answerOf(error);
  if (statusCode === undefined) {
    const isForbidden = isLitterboxError(error, 'PERMISSION_DENIED') || said.includes('EACCES');
    if (isForbidden)
      return new LitterboxError(
        'UNAVAILABLE',
        `The socket of ${title}, ${socket}, cannot be opened by this user.`,
        {
          ...details,
          hint: words.permissionHint,
        },
        options,
      );
    const isSilent = ['TimeoutError', 'AbortError'].includes((error as Partial<Error> | undefined)?.name ?? '');
    return new LitterboxError(
      'UNAVAILABLE',
      isSilent
        ? `${title} does not answer at ${socket}.`
        : `${title} cannot be reached at ${socket}: ${shown(said === '' ? 'no reason given' : said)}.`,
      { ...details, hint: words.startHint, facts: { isSilent } },
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
