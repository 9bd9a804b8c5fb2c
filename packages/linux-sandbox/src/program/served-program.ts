import { type CallOptions, encodeRaw, type Host, type ProcessHandle } from '@litterbox/core/provider';
import { encodePlan, type PlanEntry } from '../script/plan-entry.ts';
import type { ScriptResult } from '../script/run-script.ts';
import { lineOf, Talk } from './talk.ts';

/** The session program does these things for a plan and goes on. When it is done it says this word. */
const ASKS = 'copied\n';
const DONE = { look: 'end\0', stage: 'staged\0' } as const;

/**
 * The session program in one process for all that a create asks of it: it looks at the machine and makes the directory, and becomes the link of
 * this client to the session that it starts then. What fails ends it; then each thing is asked of a process of its own.
 */
export class ServedProgram implements AsyncDisposable {
  readonly #host: Host;
  readonly #program: string;
  readonly #starting: Promise<{ readonly handle: ProcessHandle; readonly talk: Talk }>;
  /** One thing at a time. */
  #turn: Promise<unknown>;
  /** Settles when what comes next is no answer to a question of the program's. */
  #quiet: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #hasEnded = false;

  /** @param program absolute path of the session program on the host */
  constructor(host: Host, program: string) {
    this.#host = host;
    this.#program = program;
    this.#starting = host
      .spawn({ argv: [program, 'serve'], stdin: 'pipe' })
      .then((handle) => ({ handle, talk: new Talk(handle) }));
    this.#turn = this.#starting.catch(() => {}); // told to whoever asks first
    void this.#starting
      .then(({ handle }) => handle.exit)
      .then(
        () => (this.#hasEnded = true),
        () => {},
      );
  }

  /** As `runProgram` with the verb and the plan. The word `copied` asks whether somebody still waits for it, which is so. */
  async run(verb: keyof typeof DONE, plan: readonly PlanEntry[], options?: CallOptions): Promise<ScriptResult> {
    options?.signal?.throwIfAborted();
    const asked = this.#ask(verb, plan, { before: this.#turn, quiet: this.#quiet }, options);
    this.#turn = asked.catch(() => {});
    if (plan.some(([name]) => name === 'ask')) this.#quiet = this.#turn;
    return await asked;
  }

  async #ask(
    verb: keyof typeof DONE,
    plan: readonly PlanEntry[],
    { before, quiet }: { readonly before: Promise<unknown>; readonly quiet: Promise<unknown> },
    options?: CallOptions,
  ): Promise<ScriptResult> {
    const { handle, talk } = await this.#starting;
    await quiet;
    // Before the answer to what was asked first: it is read when that is done.
    if (!this.#isOver) await handle.write(encodePlan([[verb], ...plan])).catch(() => {}); // one that has ended by then says why by itself
    await before;
    options?.signal?.throwIfAborted();
    if (this.#isOver) {
      await using again = new ServedProgram(this.#host, this.#program);
      return await again.run(verb, plan, options);
    }
    const abort = () => void this[Symbol.asyncDispose]();
    options?.signal?.addEventListener('abort', abort, { once: true });
    try {
      const word = DONE[verb];
      const lengthOf = (output: string) => {
        if (output.startsWith(word)) return word.length;
        if (output.startsWith(ASKS)) return ASKS.length;
        const at = output.indexOf(`\0${word}`);
        return at < 0 ? 0 : at + 1 + word.length;
      };
      let { text, isWhole } = await talk.next(lengthOf);
      while (isWhole && text === ASKS) {
        await handle.write(encodeRaw('go\n')).catch(() => {}); // its end tells
        ({ text, isWhole } = await talk.next(lengthOf));
      }
      if (isWhole) return { code: 0, stdout: text.slice(0, -word.length), stderr: '' };
      this.#isOver = true;
      const { code } = await handle.exit;
      options?.signal?.throwIfAborted();
      return { code, stdout: text, stderr: talk.complaint };
    } finally {
      options?.signal?.removeEventListener('abort', abort);
    }
  }

  /** Whether it has ended, or was given away. */
  get isOver(): boolean {
    return this.#isOver || this.#hasEnded;
  }

  /** Becomes the link of a client to a session, and gives the line that tells how the sandbox is; an empty one where it has ended. */
  async link(directory: string, purpose: string): Promise<string> {
    const before = this.#turn;
    const linked = (async () => {
      const { handle, talk } = await this.#starting;
      await handle.write(encodePlan([['link', directory, purpose], ['go']])).catch(() => {}); // its end tells
      await before;
      return (await talk.next(lineOf)).text.trimEnd();
    })();
    this.#turn = linked.catch(() => {});
    return await linked;
  }

  /** Gives the process away, which its new owner ends; undefined where it has ended or was given away. */
  async take(): Promise<{ readonly handle: ProcessHandle; readonly talk: Talk } | undefined> {
    await this.#turn;
    if (this.#isOver) return undefined;
    this.#isOver = true;
    return await this.#starting;
  }

  /** Ends it, unless somebody has taken it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const started = await this.#starting.catch(() => undefined);
    await started?.handle[Symbol.asyncDispose]();
  }
}
