/** One call that the model makes, by the name that the server gives the tool. */
export interface PlotCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the client told the model of a call: the text, as the model gets it. */
export type PlotResult = string;

/**
 * A model that follows a plot: it yields calls, is given what the client made of their results, and returns its last words.
 * It decides by the results, and throws {@link PlotError} at one that no working sandbox would give.
 */
export type Plot = Generator<PlotCall, string, PlotResult>;

/** What a result should have been. */
export class PlotError extends Error {}

export function* calling(tool: string, input: PlotCall['input']): Generator<PlotCall, PlotResult, PlotResult> {
  return yield { tool, input };
}

/** @throws PlotError unless the text matches. Gives what the groups matched. */
export function mustMatch(what: string, text: string, pattern: RegExp): readonly string[] {
  const found = pattern.exec(text);
  if (!found) throw new PlotError(`${what}: want ${pattern}, got ${JSON.stringify(text)}`);
  return found.slice(1);
}
