import type { VirtualMachine } from './way.ts';

const STATES: Readonly<Record<string, VirtualMachine['state']>> = { Running: 'running', Stopped: 'stopped' };

/** The words that Lima, Colima and WSL have in common; what else they say is `other`. */
export const stateOf = (status: string): VirtualMachine['state'] =>
  Object.hasOwn(STATES, status) ? (STATES[status] ?? 'other') : 'other';
