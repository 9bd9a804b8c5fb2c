import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** Whether a person paused or stopped it: nothing runs in it, and nothing is looked at, until they resume it. */
export const isPausedOrStopped = ({ state }: Pick<SandboxRecord, 'state'>): boolean =>
  state === 'paused' || state === 'stopped';
