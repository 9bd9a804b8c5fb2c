import { type Asked, bytesOf, type Dialect, SERVER, type ShownTool, textOf, type Turn } from './dialect.ts';

interface MessagesRequest {
  readonly model: string;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
}
type Block = { readonly type: string; readonly content?: unknown };

const PREFIX = `mcp__${SERVER}__`;
const NO_USAGE = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

/** Anthropic's Messages API, as Claude Code uses it. @see https://docs.claude.com/en/api/messages-streaming */
export const messagesApi: Dialect = {
  wantsTurn: (method, path) => method === 'POST' && /^\/v1\/messages(\?|$)/.test(path),

  read(body): Asked {
    const { tools = [], messages } = body as MessagesRequest;
    return {
      tools: tools.map((tool): ShownTool => {
        const { name } = tool;
        return { name, bytes: bytesOf(tool), ...(name.startsWith(PREFIX) && { ours: name.slice(PREFIX.length) }) };
      }),
      results: messages
        .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textOf(content)),
    };
  },

  events(turn: Turn, body) {
    const { model } = body as MessagesRequest;
    const isCall = 'call' in turn;
    const block = isCall
      ? { type: 'tool_use', id: turn.id, name: turn.call.name, input: {} }
      : { type: 'text', text: '' };
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }
      : { type: 'text_delta', text: turn.say };
    const message = {
      id: 'msg_plot',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: NO_USAGE,
    };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: 'message_stop' },
    ];
  },
};
