import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import type { ExecChannel } from './exec-channel.ts';

/** A sandbox as this process uses it. */
export interface OpenedSandbox {
  readonly runtime: SandboxRuntime;
  readonly channel: ExecChannel;
  /** True until this process has looked once for what others, killed meanwhile, left unrecorded. */
  mayHoldUnrecorded: boolean;
}
