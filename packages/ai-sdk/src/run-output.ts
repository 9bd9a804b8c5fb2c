import type { CommandResult } from 'litterbox';
import { decodeText } from './text-and-streams.ts';

/** The result of a command for a model: why it ended, and how much is left out, stand after its errors. */
export function runOutput({
  exitCode,
  stdoutBytes,
  stderrBytes,
  timedOut,
  durationMs,
  dropped,
  hints,
}: CommandResult): {
  exitCode: number;
  stdout: string;
  stderr: string;
} {
  const notes = [
    ...(timedOut ? [`Its time limit ended it after ${Math.round(durationMs / 1000)} s.`] : []),
    ...leftOut('standard output', dropped.stdout),
    ...leftOut('standard error', dropped.stderr),
    ...hints,
  ];
  const stderr = decodeText(stderrBytes);
  const gap = stderr === '' || stderr.endsWith('\n') ? '' : '\n';
  return {
    exitCode,
    stdout: decodeText(stdoutBytes),
    stderr: notes.length === 0 ? stderr : `${stderr}${gap}${notes.map((note) => `[litterbox: ${note}]\n`).join('')}`,
  };
}

const leftOut = (stream: string, bytes: number): readonly string[] =>
  bytes > 0 ? [`${bytes} bytes in the middle of ${stream} are left out.`] : [];
