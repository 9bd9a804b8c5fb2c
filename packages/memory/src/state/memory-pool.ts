import { type Clock, LitterboxError, type PooledSandbox, type SandboxPool } from '@litterbox/core/provider';
import { copyOf } from '../tools/copy-of.ts';
import type { Owner, StateShelf } from './state-shelf.ts';

/** The sandboxes of a user that were made in advance, in memory. */
export function memoryPool(shelf: StateShelf, clock: Clock, owner: Owner = { isAlive: true }): SandboxPool {
  const lineOf = (id: PooledSandbox['id']) => shelf.pool.find(({ sandbox }) => sandbox.id === id);
  return {
    async add(sandbox, options) {
      options?.signal?.throwIfAborted();
      const added: PooledSandbox = { ...sandbox, state: 'filling', createdAtMs: clock.wallMs() };
      shelf.pool.push({ sandbox: added, owner });
      return copyOf(added);
    },

    async offer(id, assurance, options) {
      options?.signal?.throwIfAborted();
      const line = lineOf(id);
      if (line?.sandbox.state !== 'filling' || line.owner !== owner)
        throw new LitterboxError('NOT_FOUND', `The prepared sandbox ${id} is not being made by this process.`, {
          operation: 'pool.offer',
        });
      line.sandbox = { ...line.sandbox, state: 'ready', assurance: copyOf(assurance) };
      line.owner = undefined;
    },

    async take({ repositoryId, provider, fingerprint }, options) {
      options?.signal?.throwIfAborted();
      const line = shelf.pool.find(
        ({ sandbox }) =>
          sandbox.state === 'ready' &&
          sandbox.repositoryId === repositoryId &&
          sandbox.provider === provider &&
          sandbox.fingerprint === fingerprint,
      );
      if (!line) return undefined;
      line.sandbox = { ...line.sandbox, state: 'claimed' };
      line.owner = owner;
      return copyOf(line.sandbox);
    },

    async condemn(id, options) {
      options?.signal?.throwIfAborted();
      const line = lineOf(id);
      if (!line || line.owner?.isAlive) return false;
      line.sandbox = { ...line.sandbox, state: 'condemned' };
      line.owner = owner;
      return true;
    },

    async get(id, options) {
      options?.signal?.throwIfAborted();
      return copyOf(lineOf(id)?.sandbox);
    },

    async list(repositoryId, options) {
      options?.signal?.throwIfAborted();
      const all = shelf.pool.map(({ sandbox }) => sandbox);
      return copyOf(all.filter((one) => repositoryId === undefined || one.repositoryId === repositoryId));
    },

    async abandoned(options) {
      options?.signal?.throwIfAborted();
      const dead = shelf.pool.filter((line) => line.owner && !line.owner.isAlive);
      return copyOf(dead.map(({ sandbox }) => sandbox));
    },

    async remove(id, options) {
      options?.signal?.throwIfAborted();
      shelf.pool = shelf.pool.filter(({ sandbox }) => sandbox.id !== id);
    },
  };
}
