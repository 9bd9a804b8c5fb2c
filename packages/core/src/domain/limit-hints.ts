import type { ExitStatus } from './exit-status.ts';
import type { ResourceLimits } from './resource-limits.ts';

/** How a command ended, as far as limits may have to do with it. */
export interface LimitedOutcome {
  readonly exit: ExitStatus;
  /** The end of what it printed: hostile. */
  readonly text: string;
  /** Processes that the kernel ended meanwhile because the sandbox had reached its limit of memory. */
  readonly killedForMemory?: number | undefined;
  /** Processes that could not be started meanwhile because there were as many as may be. */
  readonly refusedProcesses?: number | undefined;
}

const NO_SPACE = /no space left on device|\bENOSPC\b|disk quota exceeded/i;
const OPEN_FILES = /too many open files|\bE[MN]FILE\b|requested maxclients/i;
const BUS_ERROR = /\bbus error\b|\bSIGBUS\b/i;

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** What limits of the sandbox had to do with how a command ended, a sentence each; programs often name another cause, or none. */
export function limitHints(
  { memoryBytes, diskBytes, processes, openFiles }: ResourceLimits,
  { exit, text, killedForMemory = 0, refusedProcesses = 0 }: LimitedOutcome,
): readonly string[] {
  const isFailed = exit.code !== 0;
  const memory = memoryBytes === undefined ? '' : ` (limits.memory: ${mebibytes(memoryBytes)})`;
  const hints: string[] = [];
  if (killedForMemory > 0)
    hints.push(
      `the kernel killed ${killedForMemory === 1 ? 'a process' : `${killedForMemory} processes`} here, for all of them together needed more memory than the sandbox may use${memory}; run fewer at once, or a person gives sandboxes to come more`,
    );
  if (refusedProcesses > 0)
    hints.push(
      `${refusedProcesses === 1 ? 'a process' : `${refusedProcesses} processes`} could not be started here, for there were as many processes and threads as the sandbox may have${processes === undefined ? '' : ` (limits.processes: ${processes})`}; run fewer at once, or a person gives sandboxes to come more`,
    );
  if (isFailed && OPEN_FILES.test(text))
    hints.push(
      `a process may have only so many files open at once (limits.open-files${openFiles === undefined ? '' : `: ${openFiles}`}); use fewer, or a person gives sandboxes to come more`,
    );
  const isBusError = isFailed && (exit.signal === 'SIGBUS' || BUS_ERROR.test(text));
  if (isBusError || (isFailed && NO_SPACE.test(text)))
    hints.push(
      `${isBusError ? 'a bus error mostly means that shared memory is full: ' : ''}/tmp, /var/tmp and /dev/shm hold at most half of the memory limit each${memoryBytes === undefined ? '' : `, ${mebibytes(memoryBytes / 2)}`}; large files belong into the playground${diskBytes === undefined ? '' : `, which has with workspace and home ${mebibytes(diskBytes)} (limits.disk)`}`,
    );
  return hints;
}
