import type { ModelTokens } from '@litterbox/core/provider';

/** A longer line, or a longer document, is passed over: its tokens are not known then. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** About what models make of English and of code. */
const BYTES_OF_TOKEN = 4;
/** Where an event has what a model wrote. */
const WRITTEN = ['delta', 'choices', 'candidates'];
/** Below an event, arguments of a tool stand deepest: choices, one, delta, tool_calls, one, function. */
const MAX_DEPTH = 6;

/** Reads the tokens that a server counted, while its answer goes by. Hostile bytes: nothing is kept of them but numbers. */
export class UsageReader {
  /** As the server counted them. Where it did not until the end of the answer, {@link UsageReader.end} estimates. */
  tokens: ModelTokens | undefined;
  #isCounted = false;
  #writtenBytes = 0;
  readonly #isStream: boolean;
  readonly #isRead: boolean;
  readonly #decoder = new TextDecoder();
  #text = '';
  #isTooLong = false;

  constructor(contentType = '') {
    this.#isStream = /^text\/event-stream\b/i.test(contentType);
    this.#isRead = this.#isStream || /^application\/json\b/i.test(contentType);
  }

  push(bytes: Uint8Array): void {
    if (!this.#isRead) return;
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#isStream) return this.#add(text);
    const [first = '', ...more] = text.split('\n');
    this.#add(first);
    for (const part of more) {
      this.#hearLine();
      this.#add(part);
    }
  }

  /**
   * A reader that leaves a stream before its last words, or that never asks the server to count, still spends.
   *
   * @param sentBytes length of the question
   */
  end(sentBytes: number): void {
    if (this.#isStream) this.#hearLine();
    else if (!this.#isTooLong && this.#text !== '' && !this.#hear(this.#text)) {
      // Cut: the count stands behind what was written.
      this.#writtenBytes = Buffer.byteLength(this.#text);
    }
    this.#text = '';
    if (this.#isCounted || this.#writtenBytes === 0) return;
    const { input = 0, output = 0 } = this.tokens ?? {};
    this.tokens = {
      input: input || Math.ceil(sentBytes / BYTES_OF_TOKEN),
      output: Math.max(output, Math.ceil(this.#writtenBytes / BYTES_OF_TOKEN)),
      isEstimate: true,
    };
  }

  #add(part: string): void {
    if (this.#isTooLong || this.#text.length + part.length > MAX_CHARACTERS) {
      this.#isTooLong = true;
      this.#text = '';
    } else this.#text += part;
  }

  #hearLine(): void {
    const line = this.#text;
    this.#text = '';
    if (!this.#isTooLong && line.startsWith('data:')) this.#hear(line.slice('data:'.length));
    this.#isTooLong = false;
  }

  /** @returns whether it is a whole document */
  #hear(json: string): boolean {
    const document = parsed(json);
    for (const event of Array.isArray(document) ? document : [document]) {
      if (!isTable(event)) continue;
      for (const key of WRITTEN) this.#writtenBytes += bytesOf(event[key]);
      const found = tokensOf(event);
      if (!found) continue;
      // A message that begins has the question alone.
      this.#isCounted ||= found.output > 0 && !isTable(event['message']);
      // Events of one answer count what came until then.
      const { input = 0, output = 0 } = this.tokens ?? {};
      this.tokens = { input: Math.max(input, found.input), output: Math.max(output, found.output) };
    }
    return document !== undefined;
  }
}

type Table = Readonly<Record<string, unknown>>;

/** Where the services that many agents call have it, and nowhere else: what a model wrote is in there too. */
function tokensOf(event: Table): ModelTokens | undefined {
  const { message, response, usageMetadata } = event;
  const usage = [event['usage'], isTable(message) && message['usage'], isTable(response) && response['usage']].find(
    isTable,
  );
  if (usage)
    return {
      input:
        sum(usage, 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens') ||
        sum(usage, 'prompt_tokens'),
      output: sum(usage, 'output_tokens') || sum(usage, 'completion_tokens'),
    };
  if (!isTable(usageMetadata)) return undefined;
  return {
    input: sum(usageMetadata, 'promptTokenCount'),
    output: sum(usageMetadata, 'candidatesTokenCount', 'thoughtsTokenCount'),
  };
}

/** Length of all text in it. */
function bytesOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + bytesOf(one, depth + 1), 0);
}

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sum(usage: Table, ...keys: readonly string[]): number {
  return keys.reduce((total, key) => {
    const count = usage[key];
    return total + (Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : 0);
  }, 0);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
