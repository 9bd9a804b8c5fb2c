import type { Command } from '../domain/processes/command.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import type { OutputChunk } from '../ports/common/process.ts';
import { RUN_TEXT } from './command-shell.ts';
import { CALL_VARIABLE } from './kill-tree.ts';
import { printfFormat, quoted } from './shell-text.ts';
import { ENTERED, report } from './worker.ts';

/** Hears output as it comes. A promise that it returns is waited for before more is read, and must not reject. */
export type OutputListener = (chunk: OutputChunk) => unknown;

/** One command for the exec channel, and the bounds it runs in. */
export interface ChannelCommand {
  /** Verbatim arguments; the program is looked up in PATH. At most 128 KiB each. */
  readonly argv: readonly [string, ...string[]];
  /**
   * Text of ours that the channel's own shell runs in place of a program, with `argv` as its `$1 $2 …`: what builtins do costs no
   * exec then. Never an agent's.
   */
  readonly script?: string | undefined;
  /** Absolute. @defaultValue where the runtime starts processes */
  readonly cwd?: string | undefined;
  /** Added to the runtime's environment for this command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** At most {@link MAX_CHANNEL_STDIN_BYTES}: more goes through the runtime's own spawn, or lies in a file. */
  readonly stdin?: Uint8Array | undefined;
  /** In place of it an absolute path inside, which the command reads, and which is removed as soon as it is open. */
  readonly stdinFile?: string | undefined;
  /** The whole process tree is killed after so many milliseconds. Absent: never. */
  readonly timeoutMs?: number | undefined;
  /** Kept per stream; the rest is counted and dropped. @defaultValue 1 MiB */
  readonly maxOutputBytes?: number | undefined;
  /** Every chunk as it comes, before any cut. A promise holds the command back until it resolves. Must not throw, nor reject. */
  readonly onOutput?: OutputListener | undefined;
  /** Errors go where output goes, in the order in which they are written: all arrives as `stdout-data`. @defaultValue false */
  readonly isMerged?: boolean | undefined;
  /** Secrets that the sandbox holds stay in the output: it is for Litterbox itself, which searches it. @defaultValue false */
  readonly isRaw?: boolean | undefined;
  /** Once, when the command has been started. Must not throw. */
  readonly onStart?: ((running: RunningCommand) => void) | undefined;
  /** Once, when the command has its directory and is about to be executed. Must not throw. */
  readonly onEntered?: (() => void) | undefined;
}

/** A command of the exec channel that goes on. */
export interface RunningCommand {
  /**
   * Sends a signal to the command and to what it waits for, as a terminal sends one to its foreground. What left the command's
   * process group hears nothing. Resolves when it was sent, or when the command has ended; the command may go on.
   */
  signal(name: SignalName): Promise<void>;
}

export const MAX_CHANNEL_STDIN_BYTES = 64 * 1024;
/** Linux's limit for one argument, its terminating NUL included (MAX_ARG_STRLEN). @see https://man7.org/linux/man-pages/man2/execve.2.html */
export const MAX_ARGUMENT_BYTES = 128 * 1024;

/** The part of a {@link ChannelCommand} that says what is run. A text goes to the shell that the sandbox has. */
export function whatToRun(command: Command): Pick<ChannelCommand, 'argv' | 'script'> {
  return typeof command === 'string' ? { argv: [command], script: RUN_TEXT } : { argv: command };
}

/** @throws LitterboxError `COMMAND_NUL`, `COMMAND_TOO_LONG`. */
export function assertRunnable({ argv, cwd, env = {} }: ChannelCommand): void {
  const texts = [...argv, cwd ?? '', ...Object.entries(env).flat()];
  if (texts.some((text) => text.includes('\0'))) {
    throw new LitterboxError('COMMAND_NUL', 'The command holds a NUL character.', {
      operation: 'channel.run',
      hint: 'No argument of a program can hold one; pass such bytes on stdin.',
    });
  }
  if (
    texts.some(
      (text) =>
        text.length >= MAX_ARGUMENT_BYTES ||
        (text.length * 3 >= MAX_ARGUMENT_BYTES && new TextEncoder().encode(text).length >= MAX_ARGUMENT_BYTES),
    )
  ) {
    throw new LitterboxError(
      'COMMAND_TOO_LONG',
      `One argument is longer than ${MAX_ARGUMENT_BYTES - 1} bytes, Linux's limit.`,
      { operation: 'channel.run', hint: 'Write it to a file in the sandbox, or pass it on stdin.' },
    );
  }
}

/** One subshell per command: what it changes of its environment, directory and descriptors ends with it. */
export function scriptOf(command: ChannelCommand, callId: string): string {
  const { argv, script, cwd, env = {}, stdin, stdinFile, isMerged, onEntered } = command;
  const steps = [`export ${CALL_VARIABLE}=${callId}`];
  if (stdinFile !== undefined) steps.push(`rm -f -- ${quoted(stdinFile)}`);
  for (const [name, value] of Object.entries(env)) steps.push(`export ${name}=${quoted(value)}`);
  if (cwd !== undefined) steps.push(`cd ${quoted(cwd)} || { ${report('no-cwd')}; exit 1; }`);
  if (onEntered) steps.push(report(ENTERED));
  const words = argv.map(quoted).join(' ');
  const errors = isMerged === true ? '2>&1' : '2>&8';
  if (script === undefined) steps.push(`exec ${words} ${errors} 8>&-`);
  else steps.push(`exec ${errors} 8>&-`, `set -- ${words}`, script);
  const source = stdin === undefined || stdin.length === 0 ? '' : `printf ${quoted(printfFormat(stdin))} | `;
  return `${source}( ${steps.join('\n')} )${source === '' ? ` <${quoted(stdinFile ?? '/dev/null')}` : ''}`;
}
