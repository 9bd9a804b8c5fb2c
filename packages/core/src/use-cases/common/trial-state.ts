import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';

/** Holds one record that nobody else sees: of a sandbox that is set up before it is anybody's. What is told of it is told to nobody. */
export function trialState(first: SandboxRecord): Pick<StateStore, 'get' | 'update' | 'publish'> {
  let record = first;
  return {
    get: async () => record,
    async update(_record, change) {
      const kept = Object.entries({ ...record, ...change }).filter(([, value]) => value !== null);
      record = { ...(Object.fromEntries(kept) as unknown as SandboxRecord), generation: record.generation + 1 };
      return record;
    },
    publish: async (event) => ({ ...event, sequence: 0, atMs: 0 }),
  };
}
