import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord, SandboxState, StateStore } from '../../ports/state/state-store.ts';
import { changeRecord } from './change-record.ts';
import { runtimeState } from './runtime-state.ts';

/**
 * Makes the record say what the runtime is, after something ended while it paused, stopped or resumed the sandbox: the runtime alone knows
 * how far that came. The new state; nothing when the record had it right.
 */
export async function settleRunState(
  state: StateStore,
  provider: SandboxProvider,
  record: SandboxRecord,
): Promise<SandboxState | undefined> {
  const actual = await runtimeState(provider, record.id);
  const right = actual === 'paused' || actual === 'stopped' ? actual : 'ready';
  const isOther = (now: SandboxRecord) =>
    now.state !== right && (now.state === 'ready' || now.state === 'paused' || now.state === 'stopped');
  let isChanged = false;
  await changeRecord(state, record, (now) => {
    isChanged = isOther(now);
    return isChanged ? { state: right } : undefined;
  });
  return isChanged ? right : undefined;
}
