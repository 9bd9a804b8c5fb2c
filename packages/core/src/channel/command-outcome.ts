import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { KeptOutput } from './bounded-output.ts';
import type { LimitCounts } from './worker.ts';

/** How a command of the exec channel went: output that was kept, exit, and what cut it short. */
export interface CommandOutcome {
  /** 128 + n when signal n ended it. */
  readonly exit: ExitStatus;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** Why it was ended by us, or lost. What it printed until then is in the output all the same. */
  readonly interruption?: 'timeout' | 'abort' | 'channel-lost';
  /** How many processes of the sandbox the kernel killed meanwhile because together they had reached the limit of memory; absent when none. */
  readonly killedForMemory?: number;
  /** How many processes of the sandbox could not be started meanwhile because there were as many as may be; absent when none. */
  readonly refusedProcesses?: number;
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

/** A shell's exit code as {@link ExitStatus}. */
export function exitStatusOf(code: number): ExitStatus {
  const signal = code > 128 ? SIGNALS[code - 128] : undefined;
  return signal === undefined ? { code } : { code, signal };
}

/** What limits did between two counts. */
export function hitLimits(
  before: LimitCounts,
  after: LimitCounts,
): Pick<CommandOutcome, 'killedForMemory' | 'refusedProcesses'> {
  const killed = after.killed - before.killed;
  const refused = after.refused - before.refused;
  return { ...(killed > 0 && { killedForMemory: killed }), ...(refused > 0 && { refusedProcesses: refused }) };
}
