import { LitterboxError, type ProgressOptions } from '@litterbox/core/provider';
import { failed } from './program-failed.ts';
import type { VmProgram } from './vm-program.ts';

/** A first start fetches and unpacks an image. */
const LIMIT_MS = 15 * 60_000;

/** Has a program start a machine, and tells what it prints meanwhile. */
export async function startMachine(
  program: VmProgram,
  args: readonly string[],
  host: string,
  { signal, onProgress }: ProgressOptions = {},
): Promise<void> {
  onProgress?.({ step: 'machine', message: `Starting ${host}` });
  const answer = await program.ask(args, {
    signal,
    limitMs: LIMIT_MS,
    onLine: (line) => onProgress?.({ step: 'machine', message: `Starting ${host}: ${messageOf(line)}` }),
  });
  if (answer?.code === 0) return;
  if (answer) throw failed(program.name, args.join(' '), answer);
  throw new LitterboxError('TOOL_MISSING', `${program.name} is not installed any more.`, { operation: 'host.wake' });
}

/** Lima and Colima log as logrus does: `time="…" level=info msg="…"`. */
const messageOf = (line: string): string => (/ msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line).slice(0, 120);
