import { type Asked, bytesOf, type Dialect, SERVER, type ShownTool, textOf, type Turn } from './dialect.ts';

interface ResponsesRequest {
  readonly tools?: readonly Tool[];
  readonly input: readonly { readonly type?: string; readonly output?: unknown }[];
}
interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

const PREFIX = `mcp__${SERVER}`;
const NO_USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

/** OpenAI's Responses API, as Codex uses it. @see https://platform.openai.com/docs/api-reference/responses-streaming */
export const responsesApi: Dialect = {
  wantsTurn: (method, path) => method === 'POST' && path.endsWith('/responses'),

  read(body): Asked {
    const { tools = [], input } = body as ResponsesRequest;
    return {
      tools: tools.flatMap((tool): readonly ShownTool[] => {
        const group = tool.name ?? tool.type;
        if (tool.type !== 'namespace') return [{ name: group, bytes: bytesOf(tool) }];
        return (tool.tools ?? []).map((one) => {
          const name = one.name ?? one.type;
          // Codex shows `sandbox-create` as `sandbox_create`.
          const ours = group === PREFIX && { ours: name.replaceAll('_', '-') };
          return { name: `${group}.${name}`, bytes: bytesOf(one), ...ours };
        });
      }),
      results: input.filter(({ type }) => type === 'function_call_output').map(({ output }) => textOf(output)),
    };
  },

  events(turn: Turn) {
    const item =
      'call' in turn
        ? {
            type: 'function_call',
            id: `fc_${turn.id}`,
            call_id: turn.id,
            ...named(turn.call),
            arguments: JSON.stringify(turn.input),
          }
        : { type: 'message', id: 'msg_plot', role: 'assistant', content: [{ type: 'output_text', text: turn.say }] };
    return [
      { type: 'response.created', response: { id: 'resp_plot' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'resp_plot', usage: NO_USAGE } },
    ];
  },
};

function named({ name }: ShownTool): { readonly namespace?: string; readonly name: string } {
  const [group = '', inGroup] = name.split('.');
  return inGroup === undefined ? { name: group } : { namespace: group, name: inGroup };
}
