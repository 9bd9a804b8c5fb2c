import type { Trial } from '../seats/seat.ts';
import { eventStream } from './event-stream.ts';

/**
 * A call of a tool as Anthropic's Messages API streams it, and a word where no tool is offered: then a client asks for a title.
 *
 * @see https://docs.claude.com/en/api/messages-streaming
 */
export function anthropicTurn(tool: string, input: object, body: unknown): ReturnType<Trial['answer']> {
  const { model = 'trial', tools = [] } = (body ?? {}) as { model?: unknown; tools?: unknown };
  const isTurn = Array.isArray(tools) && tools.length > 0;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'trial', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
  const block = isTurn ? { type: 'tool_use', id: 'trial', name: tool, input: {} } : { type: 'text', text: '' };
  const delta = isTurn
    ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    : { type: 'text_delta', text: 'Trial' };
  return eventStream([
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: isTurn ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]);
}
