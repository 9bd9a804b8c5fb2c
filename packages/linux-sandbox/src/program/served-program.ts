import type { CallOptions, Host, ProcessHandle } from '@litterbox/core/provider';
import { encodePlan, type PlanEntry } from '../script/plan-entry.ts';
import { runProgram, type ScriptResult } from '../script/run-script.ts';
import { Talk } from './talk.ts';

/** What the session program does for a plan and then goes on, and the word by which it says that it is done. */
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
  #isOver = false;

  /** @param program absolute path of the session program on the host */
  constructor(host: Host, program: string) {
    this.#host = host;
    this.#program = program;
    this.#starting = host
      .spawn({ argv: [program, 'serve'], stdin: 'pipe' })
      .then((handle) => ({ handle, talk: new Talk(handle) }));
    this.#turn = this.#starting.catch(() => {}); // told to whoever asks first
  }

  /** As `runProgram` with the verb and the plan. */
  async run(verb: keyof typeof DONE, plan: readonly PlanEntry[], options?: CallOptions): Promise<ScriptResult> {
    options?.signal?.throwIfAborted();
    const before = this.#turn;
    const asked = this.#ask(verb, plan, before, options);
    this.#turn = asked.catch(() => {});
    return await asked;
  }

  async #ask(
    verb: keyof typeof DONE,
    plan: readonly PlanEntry[],
    before: Promise<unknown>,
    options?: CallOptions,
  ): Promise<ScriptResult> {
    const { handle, talk } = await this.#starting;
    // Before the answer to what was asked first: it is read when that is done.
    if (!this.#isOver) await handle.write(encodePlan([[verb], ...plan])).catch(() => {}); // one that has ended by then says why by itself
    await before;
    options?.signal?.throwIfAborted();
    if (this.#isOver) return await runProgram(this.#host, [this.#program, verb], encodePlan(plan), options);
    const abort = () => void this[Symbol.asyncDispose]();
    options?.signal?.addEventListener('abort', abort, { once: true });
    try {
      const word = DONE[verb];
      const { text, isWhole } = await talk.next((said) => {
        if (said.startsWith(word)) return word.length;
        const at = said.indexOf(`\0${word}`);
        return at < 0 ? 0 : at + 1 + word.length;
      });
      if (isWhole) return { code: 0, stdout: text.slice(0, -word.length), stderr: '' };
      this.#isOver = true;
      const { code } = await handle.exit;
      options?.signal?.throwIfAborted();
      return { code, stdout: text, stderr: talk.complaint };
    } finally {
      options?.signal?.removeEventListener('abort', abort);
    }
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
