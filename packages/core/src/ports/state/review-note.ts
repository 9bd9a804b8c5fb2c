/** A person's words on a line, for the agent that wrote it. */
export interface ReviewNote {
  /** Its number in the sandbox, from 1. */
  readonly note: number;
  /** From the top of the repository. Hostile: an agent named the file. */
  readonly path: string;
  /** From 1, in the revision that the person saw. */
  readonly line: number;
  readonly revision: number;
  /** The line as that revision has it, cut: numbers move, and an agent inside has no history. Hostile. Absent where there was none to read. */
  readonly text?: string;
  readonly words: string;
  readonly atMs: number;
  /** The last one to be told of it. Absent while nobody was. */
  readonly given?: {
    /** The agent, such as `codex`, or the program that asked for it: `mcp`. */
    readonly to: string;
    readonly atMs: number;
    /** Whether it was the agent's task, and not one of the facts of its sandbox. */
    readonly isTask: boolean;
  };
}
