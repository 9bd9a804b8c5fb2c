/**
 * How a process ended. `code` follows the shell: 128 + n for a process that signal n ended; `signal` then names it.
 * A program that itself exits with such a code cannot be told apart from a signal through a shell, and is reported alike.
 */
export interface ExitStatus {
  /** 0 to 255. */
  readonly code: number;
  readonly signal?: string;
}
