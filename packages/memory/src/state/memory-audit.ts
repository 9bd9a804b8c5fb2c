import { createHash } from 'node:crypto';
import {
  type AuditEntry,
  type AuditLog,
  type AuditStart,
  type CallOptions,
  type Clock,
  LitterboxError,
} from '@litterbox/core/provider';
import { copyOf } from '../tools/copy-of.ts';
import type { ChainLink, Owner, StateShelf } from './state-shelf.ts';

const MAX_INPUT_BYTES = 16 * 1024;
const DEFAULT_LIMIT = 100;

/** The audit log of a user in memory, with the chain of hashes that the port promises. */
export function memoryAudit(shelf: StateShelf, clock: Clock, owner: Owner = { isAlive: true }): AuditLog {
  const append = (part: Pick<ChainLink, 'start' | 'end'>): number => {
    const sequence = shelf.chain.length + 1;
    const kept = copyOf(part);
    shelf.chain.push({ ...kept, sequence, hash: hashOf(shelf.chain.at(-1)?.hash ?? '', sequence, kept) });
    return sequence;
  };
  const end = (what: NonNullable<ChainLink['end']>) => {
    if (!shelf.open.delete(what.starts))
      throw new LitterboxError('INTERNAL', `Audit entry ${what.starts} was ended twice.`, {
        operation: 'audit.finish',
      });
    append({ end: what });
  };
  const entryOf = ({ start, sequence, hash }: ChainLink): AuditEntry | undefined => {
    if (!start) return undefined;
    const ended = shelf.chain.find((link) => link.end?.starts === sequence);
    if (!ended?.end) return copyOf({ sequence, ...start, outcome: 'running' as const, result: {}, hash });
    const { starts: _, ...how } = ended.end;
    return copyOf({ sequence, ...start, ...how, hash: ended.hash });
  };
  return {
    async start({ operation, actor, repositoryId, sandbox, input }, options) {
      options?.signal?.throwIfAborted();
      if (!owner.isAlive)
        throw new LitterboxError('AUDIT_UNAVAILABLE', 'The audit log cannot be written, so nothing may run.', {
          operation: 'audit.start',
        });
      const startedMs = clock.monotonicMs();
      const entry = { operation, actor, repositoryId, sandbox, input: boundedInput(input), atMs: clock.wallMs() };
      const starts = append({ start: copyOf(entry) as NonNullable<ChainLink['start']> });
      shelf.open.set(starts, owner);
      return async (outcome, result) => end({ starts, outcome, result, durationMs: clock.monotonicMs() - startedMs });
    },

    async entries({ repositoryId, sandbox, limit = DEFAULT_LIMIT }, options?: CallOptions) {
      options?.signal?.throwIfAborted();
      for (const [starts, holder] of shelf.open) if (!holder.isAlive) end({ starts, outcome: 'unknown', result: {} });
      return shelf.chain
        .flatMap((link) => entryOf(link) ?? [])
        .filter((one) => repositoryId === undefined || one.repositoryId === repositoryId)
        .filter((one) => sandbox === undefined || one.sandbox === sandbox)
        .toReversed()
        .slice(0, limit);
    },

    async verify(options) {
      options?.signal?.throwIfAborted();
      let before = '';
      for (const { sequence, hash, ...part } of shelf.chain) {
        if (hash !== hashOf(before, sequence, part))
          throw new LitterboxError('AUDIT_TAMPERED', `Entry ${sequence} is not what was written.`, {
            operation: 'audit.verify',
            facts: { sequence },
          });
        before = hash;
      }
      return { entries: shelf.chain.length };
    },
  };
}

function hashOf(before: string, sequence: number, part: Pick<ChainLink, 'start' | 'end'>): string {
  return createHash('sha256')
    .update(`${before}\n${sequence}\n${JSON.stringify(part)}`)
    .digest('hex');
}

function boundedInput(input: AuditStart['input']): AuditStart['input'] {
  const json = JSON.stringify(input);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_INPUT_BYTES) return input;
  return { omitted: 'larger than 16 KiB', bytes, sha256: createHash('sha256').update(json).digest('hex') };
}
