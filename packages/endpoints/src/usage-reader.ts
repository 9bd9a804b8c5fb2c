import type { ModelTokens } from '@litterbox/core/provider';

/** A longer line, or a longer document, is passed over: its tokens are not known then. */
const MAX_CHARACTERS = 8 * 2 ** 20;

/** Reads the tokens that a server counted, while its answer goes by. Hostile bytes: nothing is kept of them but two numbers. */
export class UsageReader {
  tokens: ModelTokens | undefined;
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

  end(): void {
    if (this.#isStream) this.#hearLine();
    else if (!this.#isTooLong && this.#text !== '') this.#hear(this.#text);
    this.#text = '';
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
    if (!this.#isTooLong && line.startsWith('data:') && /usage/i.test(line)) this.#hear(line.slice('data:'.length));
    this.#isTooLong = false;
  }

  #hear(json: string): void {
    const document = parsed(json);
    for (const event of Array.isArray(document) ? document : [document]) {
      const found = tokensOf(event);
      if (!found) continue;
      // Events of one answer count what came until then.
      const { input = 0, output = 0 } = this.tokens ?? {};
      this.tokens = { input: Math.max(input, found.input), output: Math.max(output, found.output) };
    }
  }
}

type Table = Readonly<Record<string, unknown>>;

/** Where the services that many agents call have it, and nowhere else: what a model wrote is in there too. */
function tokensOf(event: unknown): ModelTokens | undefined {
  if (!isTable(event)) return undefined;
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
