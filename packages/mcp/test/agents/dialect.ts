/** A tool as the client offers it to the model. */
export interface ShownTool {
  /** As the model has to call it; a group and the name in it have a dot between them. */
  readonly name: string;
  /** The server's own name of the tool; absent: it is one of the client's own. */
  readonly ours?: string;
  /** As it is sent to the model. */
  readonly json: string;
}

/** What a client asks of the model. */
export interface Asked {
  readonly tools: readonly ShownTool[];
  /** What the client made of every call until now, oldest first. */
  readonly results: readonly string[];
}

/** What the model does next. */
export type Turn = { readonly call: ShownTool; readonly input: object; readonly id: string } | { readonly say: string };

/** How a client and a model talk: one of the APIs that the clients know. */
export interface Dialect {
  /** Whether this request wants a turn of the model. */
  wantsTurn(method: string, path: string): boolean;
  read(body: unknown): Asked;
  /** The events of a stream, each with its type where the API gives them one. */
  events(turn: Turn, body: unknown): readonly Record<string, unknown>[];
}

export const SERVER = 'litterbox';

type Part = { readonly type?: string; readonly text?: string };

/** The text of a result that may come in parts; what is no text stands there as JSON. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return (content as readonly Part[]).map((part) => part.text ?? JSON.stringify(part)).join('\n');
}
