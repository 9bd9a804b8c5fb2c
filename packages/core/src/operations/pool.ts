import * as z from 'zod';
import type { PooledSandbox } from '../ports/sandbox/sandbox-pool.ts';
import { ClearPool } from '../use-cases/prepare/clear-pool.ts';
import { FillPool, type FillPoolResult } from '../use-cases/prepare/fill-pool.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** The pool of this repository, after what was done to it. */
export interface PoolReport {
  readonly sandboxes: readonly PooledSandbox[];
  readonly made: number;
  readonly removed: number;
}

/** `pool-list`: the sandboxes of this repository that were prepared. */
export const listPool = operation({
  name: 'pool-list',
  summary: 'List the sandboxes of this repository that were prepared',
  effect: 'read',
  input: z.strictObject({}),
  document: (sandboxes: readonly PooledSandbox[]) => sandboxes.map(shown),
  execute: async (useCases, _input, options) => await useCases.get(ClearPool).list(options),
});

/** `pool-fill`: prepare as many sandboxes as the configuration wants. */
export const fillPool = operation({
  name: 'pool-fill',
  summary: 'Prepare as many sandboxes as the configuration wants, and remove those that nobody would take',
  effect: 'write',
  input: z.strictObject({}),
  document: (result: FillPoolResult) => result,
  execute: async (useCases, _input, options) => await useCases.get(FillPool).refill(options),
});

/** `pool-clear`: remove all prepared sandboxes of this repository. */
export const clearPool = operation({
  name: 'pool-clear',
  summary: 'Remove all prepared sandboxes of this repository',
  effect: 'write',
  input: z.strictObject({}),
  document: (removed: readonly PooledSandbox[]) => removed.map(shown),
  execute: async (useCases, _input, options) => await useCases.get(ClearPool).clear(options),
});

/** `pool-manage`, `litterbox pool`: the three in one. */
export const managePool = operation({
  name: 'pool-manage',
  summary: 'List the prepared sandboxes of this repository, fill the pool, or clear it',
  effect: 'write',
  command: { verb: 'pool', positional: [], examples: ['pool', 'pool --fill', 'pool --clear', 'pool --clear --fill'] },
  input: z.strictObject({
    clear: fields.flag().optional().describe('Remove all of them'),
    fill: fields.flag().optional().describe('Prepare as many as the configuration wants, and wait until they are'),
  }),
  document: ({ sandboxes, made, removed }: PoolReport) => ({ made, removed, sandboxes: sandboxes.map(shown) }),
  execute: async (useCases, { clear, fill }, options): Promise<PoolReport> => {
    const cleared = clear ? await useCases.get(ClearPool).clear(options) : [];
    const filled = fill ? await useCases.get(FillPool).refill(options) : { made: 0, removed: 0 };
    const sandboxes = await useCases.get(ClearPool).list(options);
    return { sandboxes, made: filled.made, removed: cleared.length + filled.removed };
  },
});

function shown({ id, provider, state, createdAtMs }: PooledSandbox) {
  return { id, provider, state, createdAtMs };
}
