import type { SignalName } from '../../domain/processes/signal-name.ts';
import type { ExitStatus } from '../../domain/processes/exit-status.ts';

/** The size of a terminal in characters. */
export interface TerminalSize {
  /** 1 to 65535. */
  readonly columns: number;
  /** 1 to 65535. */
  readonly rows: number;
}

/** One program to start. No shell is involved: arguments arrive verbatim. */
export interface ProcessSpec {
  /** Program and arguments; the program is looked up in the PATH of `env`. No NUL bytes. Text as in `domain/text/raw-text.ts`. */
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process: nothing is added but what the runtime documents. @defaultValue the runtime's own */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path. @defaultValue the workdir of a sandbox, `/` on a host */
  readonly cwd?: string;
  /** `'none'`: reads end of file at once. @defaultValue 'none' */
  readonly stdin?: 'none' | 'pipe';
  /** A terminal on stdin, stdout and stderr; output then arrives as `stdout-data` alone, and stdin is a pipe. */
  readonly terminal?: TerminalSize;
}

/** A piece of output and the stream it came from, never split into lines. */
export type OutputChunk =
  | { readonly type: 'stdout-data'; readonly bytes: Uint8Array }
  | { readonly type: 'stderr-data'; readonly bytes: Uint8Array };

/**
 * One running process. Iterate it for live output; await `exit` for the outcome.
 *
 * - Output is delivered once, to one iterator, in order per stream; the process is held back when nobody reads
 *   (back-pressure), except that disposing or never iterating must not lose `exit`.
 * - A non-zero exit is data, not an error: `exit` rejects only when the outcome is unknown.
 * - Disposing kills the process and everything it started that can still be told to be its own, and is idempotent.
 *   It resolves when they are gone.
 */
export interface ProcessHandle extends AsyncIterable<OutputChunk>, AsyncDisposable {
  /** Resolves when the process has ended, which may be before its output was read. */
  readonly exit: Promise<ExitStatus>;
  /**
   * Appends to stdin; resolves once the runtime accepted the bytes (this is the back-pressure). Writing to a process
   * that closed its stdin or ended resolves and drops the bytes, as a pipeline does.
   *
   * @throws LitterboxError `INVALID_ARGUMENT` when the process was started without stdin.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Idempotent. */
  closeStdin(): Promise<void>;
  /** Sends a signal to the process (its group where there is one). Resolves when sent; nothing happens after it ended. */
  kill(signal: SignalName): Promise<void>;
  /** Present if and only if the process has a terminal. */
  resize?(size: TerminalSize): Promise<void>;
}
