import type { ExitStatus } from '../processes/exit-status.ts';
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
/** What the C library, Node, Go, Rust and Perl say of EXDEV. */
const CROSS_DEVICE = /\bEXDEV\b|invalid cross-device link|cross-device link not permitted/i;
const OPEN_FILES = /too many open files|\bE[MN]FILE\b|requested maxclients/i;
const BUS_ERROR = /\bbus error\b|\bSIGBUS\b/i;

const counted = (count: number) => (count === 1 ? 'a process' : `${count} processes`);
const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** What limits of the sandbox and of its files had to do with how a command ended, a sentence each; programs often name another cause, or none. */
export function limitHints(
  { memoryBytes, diskBytes, processes, openFiles }: ResourceLimits,
  { exit, text, killedForMemory = 0, refusedProcesses = 0 }: LimitedOutcome,
): readonly string[] {
  const isFailed = exit.code !== 0;
  const memory =
    memoryBytes === undefined
      ? ''
      : `, because all of the sandbox together may use ${mebibytes(memoryBytes)} (limits.memory)`;
  const most =
    processes === undefined
      ? 'its limit of processes'
      : `its limit of ${processes} processes and threads (limits.processes)`;
  const hints: string[] = [];
  if (killedForMemory > 0)
    hints.push(
      `out of memory: the kernel killed ${counted(killedForMemory)}${memory}. Run fewer at once, or a person creates sandboxes with more (--memory)`,
    );
  if (refusedProcesses > 0)
    hints.push(
      `${counted(refusedProcesses)} could not start: the sandbox is at ${most}. Run fewer at once, or a person creates sandboxes with more (--processes)`,
    );
  if (isFailed && OPEN_FILES.test(text))
    hints.push(
      `too many open files: a process may have only so many at once (limits.open-files${openFiles === undefined ? '' : `: ${openFiles}`}). Use fewer, or a person creates sandboxes with more (--open-files)`,
    );
  const isBusError = isFailed && (exit.signal === 'SIGBUS' || BUS_ERROR.test(text));
  if (isBusError || (isFailed && NO_SPACE.test(text)))
    hints.push(
      `${isBusError ? 'a bus error mostly means that shared memory is full: ' : ''}/tmp, /var/tmp and /dev/shm hold at most half of the memory limit each${memoryBytes === undefined ? '' : `, ${mebibytes(memoryBytes / 2)}`}; put large files into the playground${diskBytes === undefined ? '' : `, which has with workspace and home ${mebibytes(diskBytes)} (limits.disk)`}`,
    );
  if (isFailed && CROSS_DEVICE.test(text))
    hints.push(
      'the system call rename moves nothing between workspace, home, playground and /tmp, and where the workspace is an overlay no directory that came with the base: mv copies instead (mv src lib, not git mv), or a person creates sandboxes without an overlay (overlayfs.strategy = "btrfs", "reflink" or "copy")',
    );
  return hints;
}
