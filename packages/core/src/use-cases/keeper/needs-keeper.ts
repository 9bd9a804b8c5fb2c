import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** Whether something of a sandbox has to be there while no call is going on. */
export function needsKeeper({ policy }: Pick<SandboxRecord, 'policy'>): boolean {
  const { services = [], ports = [], endpoints = [], network } = policy;
  return services.length > 0 || ports.length > 0 || endpoints.length > 0 || network.run !== 'none';
}
