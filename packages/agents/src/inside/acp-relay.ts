import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { type AttachedProcess, visible } from 'litterbox';
import { LineSplitter } from 'litterbox/agent';
import { type AcpPlaces, fromAgent, refusal, toAgent } from './acp-messages.ts';

/** Most bytes of a message; a picture is one. */
export const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

export interface AcpRelayInput {
  /** Name of the agent, for people. */
  readonly title: string;
  readonly process: Pick<AttachedProcess['process'], 'write'>;
  readonly output: Writable;
  readonly places: AcpPlaces;
  readonly onNotice?: ((sentence: string) => void) | undefined;
  /** The agent said what nobody can take. */
  readonly onTooLong: () => void;
}

/** Passes on messages between an editor and an agent inside, and knows which requests of the editor nobody has answered. */
export class AcpRelay {
  readonly #input: AcpRelayInput;
  readonly #lines: string[] = [];
  readonly #splitter: LineSplitter;
  /** By their ids as JSON. */
  readonly #open = new Map<string, unknown>();

  constructor(input: AcpRelayInput) {
    this.#input = input;
    const take = (bytes: Uint8Array) => this.#lines.push(Buffer.from(bytes).toString('utf8'));
    this.#splitter = new LineSplitter(MAX_MESSAGE_BYTES, take, input.onTooLong);
  }

  /** Takes a line of the editor. */
  async hear(line: string): Promise<void> {
    const { title, places, onNotice } = this.#input;
    const message = toAgent(line, places);
    if (message === undefined) return;
    const { id, servers } = message;
    if (id !== undefined) this.#open.set(JSON.stringify(id), id);
    const names = servers.map((name) => visible(name)).join(', ');
    if (names !== '') onNotice?.(`${title} works inside, without MCP servers of the editor: ${names}.`);
    await this.#send(message.line);
  }

  /** Takes what the agent printed. */
  async take(bytes: Uint8Array): Promise<void> {
    this.#splitter.take(bytes);
    for (const line of this.#lines.splice(0)) {
      const { toEditor, answers, toAgent: refused } = fromAgent(line, this.#input.places);
      if (refused !== undefined) await this.#send(refused);
      if (answers !== undefined) this.#open.delete(JSON.stringify(answers));
      if (toEditor !== undefined) await this.#say(toEditor);
    }
  }

  /** Answers whatever is left: an editor waits for each answer until it comes. */
  async refuse(why: string): Promise<void> {
    for (const id of this.#open.values()) await this.#say(refusal(id, why));
    this.#open.clear();
  }

  async #send(line: string): Promise<void> {
    await this.#input.process.write(Buffer.from(`${line}\n`));
  }

  async #say(line: string): Promise<void> {
    const { output } = this.#input;
    if (output.writable && !output.write(`${line}\n`)) await once(output, 'drain');
  }
}
