import type { AgentTable } from 'litterbox';

/** Longer lines are passed over: an agent writes them, and nobody bounds it. */
const MAX_LINE_BYTES = 2 ** 20;

/** Tokens as an agent counts them itself. */
export interface CountedTokens {
  readonly input: number;
  readonly output: number;
}

/** Reads the lines of JSON that an agent prints. Hostile: nothing stands on them but what a person is shown. */
export class AgentEvents {
  /** It has said that it is done. */
  hasEnded = false;
  tokens: CountedTokens | undefined;
  readonly #agent: Pick<AgentTable, 'end' | 'tokens'>;
  readonly #decoder = new TextDecoder();
  #line = '';
  #isTooLong = false;

  constructor(agent: Pick<AgentTable, 'end' | 'tokens'>) {
    this.#agent = agent;
  }

  push(bytes: Uint8Array): void {
    const [first = '', ...more] = this.#decoder.decode(bytes, { stream: true }).split('\n');
    this.#add(first);
    for (const part of more) {
      if (!this.#isTooLong) this.#hear(this.#line);
      this.#line = '';
      this.#isTooLong = false;
      this.#add(part);
    }
  }

  /** It has ended: its last line may have no end. */
  end(): void {
    if (!this.#isTooLong) this.#hear(this.#line);
    this.#line = '';
  }

  #add(part: string): void {
    if (this.#isTooLong || this.#line.length + part.length > MAX_LINE_BYTES) {
      this.#isTooLong = true;
      this.#line = '';
    } else this.#line += part;
  }

  #hear(line: string): void {
    const { end, tokens } = this.#agent;
    if (!line.startsWith('{')) return;
    const event = parsed(line);
    const isLike = (shape: Readonly<Record<string, string>>) =>
      Object.entries(shape).every(([key, value]) => at(event, key) === value);
    if (end && isLike(end)) this.hasEnded = true;
    if (!tokens || (tokens.each && !isLike(tokens.each))) return;
    const [input, output] = [at(event, tokens.input), at(event, tokens.output)];
    if (!isCount(input) || !isCount(output)) return;
    const { input: inputBefore, output: outputBefore } = (tokens.each && this.tokens) ?? { input: 0, output: 0 };
    this.tokens = { input: inputBefore + input, output: outputBefore + output };
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function at(event: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Readonly<Record<string, unknown>>)[key];
  }, event);
}
