import { type Asked, type Dialect, SERVER, type ShownTool, textOf, type Turn } from './dialect.ts';

interface GenerateRequest {
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly contents: readonly { readonly parts?: readonly Part[] }[];
}
interface Part {
  readonly functionResponse?: { readonly response?: { readonly output?: unknown } };
}

const PREFIX = `mcp_${SERVER}_`;

/** Google's generateContent, as Gemini CLI uses it. @see https://ai.google.dev/api/generate-content */
export const geminiApi: Dialect = {
  wantsTurn: (method, path) => method === 'POST' && path.includes(':streamGenerateContent'),

  read(body): Asked {
    const { tools = [], contents } = body as GenerateRequest;
    return {
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map((tool): ShownTool => {
          const { name } = tool;
          const ours = name.startsWith(PREFIX) && { ours: name.slice(PREFIX.length) };
          return { name, json: JSON.stringify(tool), ...ours };
        }),
      results: contents
        .flatMap(({ parts = [] }) => parts)
        .flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []))
        .map(({ response }) => textOf(response?.output ?? response)),
    };
  },

  events(turn: Turn) {
    const part =
      'call' in turn
        ? { functionCall: { id: turn.id, name: turn.call.name, args: turn.input }, thoughtSignature: 'cGxvdA==' }
        : { text: turn.say };
    return [
      {
        candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        modelVersion: 'plot',
      },
    ];
  },
};
