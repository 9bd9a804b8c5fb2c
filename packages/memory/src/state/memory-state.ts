import {
  type CallOptions,
  type Clock,
  LitterboxError,
  type SandboxRecord,
  shown,
  type StateStore,
} from '@litterbox/core/provider';
import { copyOf } from '../tools/copy-of.ts';
import { memoryLeases } from './memory-leases.ts';
import type { Owner, StateShelf } from './state-shelf.ts';

/** The state of a user in memory. Disposing it is the end of the program that had it open. */
export function memoryState(shelf: StateShelf, clock: Clock, owner: Owner = { isAlive: true }): StateStore {
  const leases = memoryLeases(shelf, clock, owner);
  const begun = (operation: string, options?: CallOptions) => {
    options?.signal?.throwIfAborted();
    if (!owner.isAlive) throw new LitterboxError('DISPOSED', 'The state was closed.', { operation });
  };
  const replace = (record: SandboxRecord) => {
    shelf.records = shelf.records.map((one) => (one.id === record.id ? record : one));
    return copyOf(record);
  };
  return {
    async insert(record, options) {
      begun('state.insert', options);
      const twin = shelf.records.find(
        ({ repositoryId, slug }) => repositoryId === record.repositoryId && slug === record.slug,
      );
      if (twin)
        throw new LitterboxError('SANDBOX_EXISTS', `A sandbox named ${shown(twin.slug)} exists already.`, {
          operation: 'state.insert',
          hint: 'Another program has just made it: work in it once it is ready, or choose another name.',
        });
      if (shelf.records.some(({ id }) => id === record.id))
        throw new LitterboxError('ALREADY_EXISTS', `A sandbox with the id ${record.id} exists already.`, {
          operation: 'state.insert',
        });
      const stored = copyOf({ ...record, generation: 1 });
      shelf.records.push(stored);
      return copyOf(stored);
    },

    async update(record, change, options) {
      begun('state.update', options);
      const current = shelf.records.find(({ id }) => id === record.id);
      if (!current)
        throw new LitterboxError('NOT_FOUND', `There is no sandbox ${shown(record.slug)} any more.`, {
          operation: 'state.update',
        });
      if (current.generation !== record.generation)
        throw new LitterboxError(
          'CONFLICT',
          `The record of ${shown(record.slug)} is at generation ${current.generation}, not ${record.generation}.`,
          { operation: 'state.update', hint: 'Read the record again, decide again, then write.' },
        );
      const meant = Object.entries(change).filter(([, value]) => value !== undefined);
      const next = {
        ...current,
        ...Object.fromEntries(meant),
        updatedAtMs: clock.wallMs(),
        generation: current.generation + 1,
      };
      const kept = Object.entries(next).filter(([, value]) => value !== null);
      return replace(copyOf(Object.fromEntries(kept) as unknown as SandboxRecord));
    },

    async get(id, options) {
      begun('state.get', options);
      return copyOf(shelf.records.find((record) => record.id === id));
    },

    async find(repositoryId, slug, options) {
      begun('state.find', options);
      return copyOf(shelf.records.find((one) => one.repositoryId === repositoryId && one.slug === slug));
    },

    async list(repositoryId, options) {
      begun('state.list', options);
      return copyOf(shelf.records.filter((one) => repositoryId === undefined || one.repositoryId === repositoryId));
    },

    async remove(id, options) {
      begun('state.remove', options);
      shelf.records = shelf.records.filter((record) => record.id !== id);
    },

    async lease(resource, purpose, options) {
      begun('state.lease', options);
      return await leases.take(resource, purpose, options);
    },

    async begin({ operation, sandbox, step }, options) {
      begun('state.begin', options);
      const id = crypto.randomUUID();
      const entry = { id, operation, ...(sandbox && { sandbox }), step, startedAtMs: clock.wallMs() };
      shelf.journal.push({ entry, owner });
      return { ...entry };
    },

    async step(id, step, options) {
      begun('state.step', options);
      const line = shelf.journal.find(({ entry }) => entry.id === id);
      if (!line)
        throw new LitterboxError('NOT_FOUND', `The journal has no entry ${id}: it has ended already.`, {
          operation: 'state.step',
        });
      line.entry = { ...line.entry, step };
      line.owner = owner;
    },

    async end(id, options) {
      begun('state.end', options);
      shelf.journal = shelf.journal.filter(({ entry }) => entry.id !== id);
    },

    async interrupted(options) {
      begun('state.interrupted', options);
      return shelf.journal.filter((line) => !line.owner.isAlive).map(({ entry }) => ({ ...entry }));
    },

    async publish(event, options) {
      begun('state.publish', options);
      const published = copyOf({ ...event, sequence: shelf.events.length + 1, atMs: clock.wallMs() });
      shelf.events.push(published);
      return copyOf(published);
    },

    async events(after, options) {
      begun('state.events', options);
      return copyOf(shelf.events.slice(after, after + (options?.limit ?? 1000)));
    },

    async isTrusted(repositoryId, contentHash, options) {
      begun('state.is-trusted', options);
      return shelf.trust.some((one) => one.repositoryId === repositoryId && one.contentHash === contentHash);
    },

    async trustedText(repositoryId, options) {
      begun('state.trusted-text', options);
      return shelf.trust.findLast((one) => one.repositoryId === repositoryId)?.text;
    },

    async trust(repositoryId, contentHash, text, options) {
      begun('state.trust', options);
      // Trusted again means trusted last.
      shelf.trust = shelf.trust.filter((one) => one.repositoryId !== repositoryId || one.contentHash !== contentHash);
      shelf.trust.push({ repositoryId, contentHash, text });
    },

    async spend(repositoryId, { name, item, amount, most, windowMs }, options) {
      begun('state.spend', options);
      const now = clock.wallMs();
      shelf.spent = shelf.spent.filter(({ endsMs }) => endsMs > now);
      const ofBudget = shelf.spent.filter((one) => one.repositoryId === repositoryId && one.name === name);
      for (const one of ofBudget) one.endsMs = Math.min(one.endsMs, now + windowMs); // the clock was set back
      const known = ofBudget.find((one) => one.item === (item ?? ''));
      if (item !== undefined && known) return true;
      if (ofBudget.reduce((sum, one) => sum + one.amount, amount) > most) return false;
      if (known) known.amount += amount;
      else shelf.spent.push({ repositoryId, name, item: item ?? '', amount, endsMs: now + windowMs });
      return true;
    },

    async [Symbol.asyncDispose]() {
      owner.isAlive = false;
      leases.freeAll();
    },
  };
}
