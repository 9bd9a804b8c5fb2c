import { LitterboxError, advice, step } from '@litterbox/core/provider';
import type { Engine } from './engine.ts';

/**
 * The error of an answer that no engine gives: what listens there is another program, or says what it likes.
 *
 * @param of what was asked about, for the message
 */
export function noAnswer(
  { title, provider }: Pick<Engine, 'title' | 'provider'>,
  operation: string,
  of: string,
): LitterboxError {
  return new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    `The server that listens as ${title} gives an answer about ${of} that no engine gives.`,
    {
      operation,
      provider,
      hint: advice`Check what listens at the address of ${title}: ${step('machine-check')} names it.`,
    },
  );
}
