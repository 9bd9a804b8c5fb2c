import * as z from 'zod';

const announcement = z.object({
  tool_name: z.string(),
  tool_use_id: z.string().optional(),
  transcript_path: z.string().optional(),
  tool_input: z.object({ command: z.string().optional(), isolation: z.string().optional() }),
});
const MAX_KEPT = 64;

/** What Claude's hook tells before each call: the names that Claude has for its calls, found again by their commands. */
export class AnnouncedCalls {
  readonly #calls: { readonly command: string; readonly callId: string }[] = [];
  readonly #onSession: (transcript: string) => void;

  /** @param onSession is told where Claude writes what is said in the session */
  constructor(onSession: (transcript: string) => void = () => {}) {
    this.#onSession = onSession;
  }

  /** Takes what a hook reads (`PreToolUse`, as 2.1.328 sends it). Resolves with why the call must not be made. */
  announce(input: string): string | undefined {
    let given: z.output<typeof announcement>;
    try {
      given = announcement.parse(JSON.parse(input));
    } catch {
      return 'Litterbox does not understand what this version of Claude Code says of its call.';
    }
    const { tool_name: tool, tool_use_id: id, tool_input: asked, transcript_path: transcript } = given;
    if (transcript !== undefined) this.#onSession(transcript);
    if (tool !== 'Bash')
      return asked.isolation === undefined
        ? undefined
        : 'A worktree for an agent would lie on this machine, and not in the sandbox. Leave out isolation.';
    if (id === undefined || asked.command === undefined) return undefined;
    this.#calls.push({ command: asked.command, callId: id.replaceAll(/[^\w.:-]/g, '-').slice(0, 128) });
    this.#calls.splice(0, this.#calls.length - MAX_KEPT);
    return undefined;
  }

  /** Each is found once. */
  take(command: string): string | undefined {
    const at = this.#calls.findIndex((one) => one.command === command);
    return at === -1 ? undefined : this.#calls.splice(at, 1)[0]?.callId;
  }
}
