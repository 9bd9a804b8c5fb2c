import { type Asked, type Dialect, SERVER, type ShownTool, textOf, type Turn } from './dialect.ts';

interface ChatRequest {
  readonly model: string;
  readonly tools?: readonly { readonly type: string; readonly function?: { readonly name: string } }[];
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

const PREFIX = `mcp__${SERVER}__`;

/** OpenAI's chat completions, as Qwen Code and Copilot use them. @see https://platform.openai.com/docs/api-reference/chat-streaming */
export const chatApi: Dialect = {
  wantsTurn: (method, path) => method === 'POST' && path.endsWith('/chat/completions'),

  read(body): Asked {
    const { tools = [], messages } = body as ChatRequest;
    return {
      tools: tools.map((tool): ShownTool => {
        const name = tool.function?.name ?? tool.type;
        const ours = name.startsWith(PREFIX) && { ours: name.slice(PREFIX.length) };
        return { name, json: JSON.stringify(tool), ...ours };
      }),
      results: messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    };
  },

  events(turn: Turn, body) {
    const { model } = body as ChatRequest;
    const head = { id: 'chat_plot', object: 'chat.completion.chunk', created: 1, model };
    const isCall = 'call' in turn;
    const delta = isCall
      ? {
          tool_calls: [
            {
              index: 0,
              id: turn.id,
              type: 'function',
              function: { name: turn.call.name, arguments: JSON.stringify(turn.input) },
            },
          ],
        }
      : { content: turn.say };
    return [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' }] },
      { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ];
  },
};
