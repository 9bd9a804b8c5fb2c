import { isLitterboxError, type LitterboxErrorDetails } from '@litterbox/core/agent';
import type { CallToolResult } from '@modelcontextprotocol/server';

/** Key of machine data in `_meta`. */
export const ERROR_META = 'dev.litterbox/error';

/** How errors are told to a model. */
export interface ErrorFormat {
  /** Places of this machine, and what a model reads instead of them. */
  readonly places: readonly (readonly [path: string, shown: string])[];
  /** The next step as a model can take it. */
  hintOf(details: LitterboxErrorDetails): string;
}

/** A failure as a model can use it: code, what is wrong, what to do next. Nothing of the program's inside. */
export function errorResult(error: unknown, { places, hintOf }: ErrorFormat): CallToolResult {
  if (!isLitterboxError(error)) {
    console.error(error);
    return {
      isError: true,
      content: [
        {
          type: 'text',
          text: 'INTERNAL: Litterbox failed; its standard error says where. Try once more, then tell the person.',
        },
      ],
      _meta: { [ERROR_META]: { code: 'INTERNAL' } },
    };
  }
  const { code, message, details } = error;
  const hint = details.hint === undefined ? undefined : hidden(hintOf(details), places);
  return {
    isError: true,
    content: [
      { type: 'text', text: `${code}: ${hidden(message, places)}${hint === undefined ? '' : `\nNext: ${hint}`}` },
    ],
    _meta: { [ERROR_META]: { code, ...(hint !== undefined && { hint }) } },
  };
}

function hidden(text: string, places: ErrorFormat['places']): string {
  return places.reduce((rest, [path, shown]) => rest.replaceAll(path, shown), text);
}
