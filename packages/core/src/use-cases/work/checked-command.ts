import { type Command, commandText } from '../../domain/processes/command.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';

/** Longest command, in bytes: one argument of Linux, less what the channel adds. */
const MAX_COMMAND_BYTES = 120 * 1024;

/** The command as one text. @throws LitterboxError `COMMAND_EMPTY`, `COMMAND_NUL`, `COMMAND_TOO_LONG`. */
export function checkedCommand(command: Command): string {
  const text = commandText(command);
  const refuse = (code: 'COMMAND_EMPTY' | 'COMMAND_NUL' | 'COMMAND_TOO_LONG', what: string, hint: string) =>
    new LitterboxError(code, `The command ${what}.`, { operation: 'sandbox.run', hint });
  if (text.trim() === '') throw refuse('COMMAND_EMPTY', 'is empty', 'Give a shell command, such as: npm test.');
  if (text.includes('\0'))
    throw refuse('COMMAND_NUL', 'holds a NUL character', 'Remove it; bytes like that can be passed on stdin.');
  const bytes = new TextEncoder().encode(text).length;
  if (typeof command === 'string' && bytes > MAX_COMMAND_BYTES)
    throw refuse(
      'COMMAND_TOO_LONG',
      `is ${bytes} bytes long; at most ${MAX_COMMAND_BYTES} are allowed`,
      'Write it to a file in the sandbox and run that.',
    );
  return text;
}
