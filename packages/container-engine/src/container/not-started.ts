import { isLitterboxError, LitterboxError, visibleName } from '@litterbox/core/provider';
import { answerOf, type EngineWords } from '../engine/engine-error.ts';

/** Engines pass on what the program that makes containers says, with what they tried before it. */
const MAX_SAID_CHARACTERS = 1000;

/** A container that the engine did not start, in the engine's words: nothing is known here of why. Other errors are as they were. */
export function notStarted(
  { provider, kind, title }: Pick<EngineWords, 'provider' | 'kind' | 'title'>,
  error: unknown,
): unknown {
  const { statusCode = 0, said } = answerOf((error as Partial<LitterboxError>).cause);
  // 400 is how Docker passes on that a place of a mount, or a program, is not there.
  if ((statusCode < 500 && statusCode !== 400) || isLitterboxError(error, 'DISK_FULL')) return error;
  return new LitterboxError(
    'UNAVAILABLE',
    `${title} could not start the container. It says: ${visibleName(said, MAX_SAID_CHARACTERS)}`,
    {
      operation: 'provider.start',
      provider,
      hint: `Check that ${kind} run works; this is not specific to Litterbox.`,
      facts: { statusCode },
    },
    { cause: error },
  );
}
