import { LitterboxError } from '@litterbox/core/provider';
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
  return new LitterboxError('PROVIDER_PROTOCOL_ERROR', `What listens as ${title} tells of ${of} what no engine says.`, {
    operation,
    provider,
    hint: `Look what listens at the address of ${title}: litterbox doctor names it.`,
  });
}
