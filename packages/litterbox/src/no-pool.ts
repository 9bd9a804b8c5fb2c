import { LitterboxError, type SandboxPool } from '@litterbox/core/agent';

/** Stands in where a program brings records of its own and no pool: it is always empty. */
export const NO_POOL: SandboxPool = {
  async add() {
    throw new LitterboxError('UNSUPPORTED', 'This program keeps no pool of prepared sandboxes.', {
      operation: 'pool.add',
      hint: 'Remove pool from the configuration, or give createLitterbox a pool among its parts.',
    });
  },
  offer: async () => {},
  take: async () => undefined,
  condemn: async () => false,
  get: async () => undefined,
  list: async () => [],
  abandoned: async () => [],
  remove: async () => {},
};
