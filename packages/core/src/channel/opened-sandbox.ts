import type { CallOptions } from '../ports/common/call.ts';
import type { ChangeMark, ChangeScan, SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import { CallGuard } from './call-guard.ts';
import { ExecChannel } from './exec-channel.ts';
import { type HeldSecrets, NO_SECRETS } from './held-secrets.ts';

/** A sandbox as this process uses it. */
export interface OpenedSandbox {
  readonly runtime: SandboxRuntime;
  readonly channel: ExecChannel;
  /** Ends what this process started when it is killed. The channel tells it by itself. */
  readonly guard: CallGuard;
  /** Secrets that its commands hold. */
  readonly secrets: HeldSecrets;
  /** True until this process has looked once for what others, killed meanwhile, left unrecorded. */
  mayHoldUnrecorded: boolean;
  /** A command of this process was started to go on: what it changes is no later call's. */
  worksOn?: boolean;
}

/** Looks for changes since a mark. The runtime may ask in a shell of the channel, which is there after any command. */
export async function scanOf(
  { runtime, channel }: OpenedSandbox,
  mark: ChangeMark | undefined,
  options?: CallOptions,
): Promise<ChangeScan> {
  return await runtime.scan(mark, { ...options, runInside: (command, call) => channel.run(command, call) });
}

/** @param mayHoldUnrecorded false for one that this process has just made */
export function openedSandbox(
  runtime: SandboxRuntime,
  mayHoldUnrecorded: boolean,
  secrets: HeldSecrets = NO_SECRETS,
): OpenedSandbox {
  const guard = new CallGuard((spec, options) => runtime.spawn(spec, options));
  return { runtime, channel: new ExecChannel(runtime, guard, secrets), guard, secrets, mayHoldUnrecorded };
}
