import type { CallOptions } from '../ports/common/call.ts';
import type { ProcessHandle, ProcessSpec } from '../ports/common/process.ts';
import { KILL_FUNCTION } from './kill-tree.ts';

/** Calls that end sooner cost nothing. A program that is killed before that may leave what it had just begun. */
const BEGIN_AFTER_MS = 250;
/** How long the shell may take to end by itself. */
const END_MS = 1_000;

/** One line each: `begin WORKER CALL`, `end CALL`, `bye`. The end of its input without `bye` is the end of the program that wrote it. */
const GUARD_SCRIPT = `exec >/dev/null 2>&1
${KILL_FUNCTION}lb_calls=
while read -r lb_word lb_at lb_call; do
case $lb_word in
begin) lb_calls="$lb_calls $lb_at/$lb_call";;
end) set -- $lb_calls; lb_calls=
for lb_one; do [ "\${lb_one#*/}" = "$lb_at" ] || lb_calls="$lb_calls $lb_one"; done;;
bye) exit 0;;
esac
done
for lb_one in $lb_calls; do lb_kill "\${lb_one%%/*}" "\${lb_one#*/}"; done`;

/**
 * Ends what this program's calls have started when this program is killed, and so can end nothing itself: engines let such commands work
 * on, and so does a sandbox that a keeper or another program holds. It is a shell inside that is told which calls are at work. It ends by
 * the end of its input, wherever the sandbox is. An agent can end it: then what it started works on.
 */
export class CallGuard implements AsyncDisposable {
  readonly #spawn: (spec: ProcessSpec, options?: CallOptions) => Promise<ProcessHandle>;
  #shell: Promise<ProcessHandle | undefined> | undefined;

  constructor(spawn: (spec: ProcessSpec, options?: CallOptions) => Promise<ProcessHandle>) {
    this.#spawn = spawn;
  }

  /**
   * Call what it returns when the call has ended.
   *
   * @param worker number, inside, of the process whose children the call consists of; `none` where its mark alone tells
   * @param call the mark in the environment of its processes
   */
  watch(worker: number | 'none', call: string): () => void {
    let begun: Promise<void> | undefined;
    const timer = setTimeout(() => (begun = this.#tell(`begin ${worker} ${call}`)), BEGIN_AFTER_MS);
    return () => {
      clearTimeout(timer);
      void begun?.then(() => this.#tell(`end ${call}`));
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const shell = await this.#shell;
    if (!shell) return;
    await this.#tell('bye');
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_MS);
    });
    const ended = shell.exit.then(
      () => {},
      () => {},
    );
    await Promise.race([ended, late]);
    clearTimeout(timer);
    await shell[Symbol.asyncDispose]();
  }

  /** Never rejects: a call does not depend on it. */
  async #tell(line: string): Promise<void> {
    const shell = await (this.#shell ??= this.#start());
    await shell?.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  }

  async #start(): Promise<ProcessHandle | undefined> {
    try {
      const shell = await this.#spawn({ argv: ['sh', '-c', GUARD_SCRIPT], stdin: 'pipe' });
      const forget = () => (this.#shell = undefined); // an agent ended it: the next call has another
      shell.exit.then(forget, forget);
      return shell;
    } catch {
      this.#shell = undefined; // the sandbox is at its limit of processes, or gone
      return undefined;
    }
  }
}
