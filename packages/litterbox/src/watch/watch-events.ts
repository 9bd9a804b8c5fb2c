import type { CallOptions, Clock, LitterboxEvent, RepositoryId, StateStore } from '@litterbox/core';
import { isSandboxEventType, type SandboxEvent } from './sandbox-event.ts';

/** So long nobody waits for news that costs one question to a file. */
const POLL_MS = 200;
const PAGE = 1000;

/** Where events are watched, and whose. */
export interface Watching {
  readonly state: Pick<StateStore, 'events' | 'get'>;
  readonly clock: Clock;
  /** Absent: those of all repositories. */
  readonly repositoryId: RepositoryId | undefined;
}

/**
 * Yields events as they come, oldest first, without an end.
 *
 * @param after the number of the last event that is known. Absent: what comes from now on
 */
export async function* watchEvents(
  { state, clock, repositoryId }: Watching,
  after: number | undefined,
  call: CallOptions,
): AsyncGenerator<SandboxEvent, never, undefined> {
  let last = after ?? (await lastSequence(state, call));
  const names = new Map<string, string>();
  for (;;) {
    call.signal?.throwIfAborted();
    const events = await state.events(last, { ...call, limit: PAGE });
    for (const event of events) {
      last = event.sequence;
      if (repositoryId !== undefined && event.repositoryId !== repositoryId) continue;
      const name = await nameOf(event, names, state, call);
      const seen = asSandboxEvent(event, name);
      if (seen) yield seen;
    }
    if (events.length < PAGE) await clock.sleep(POLL_MS, call);
  }
}

async function lastSequence(state: Watching['state'], call: CallOptions): Promise<number> {
  for (let last = 0; ; ) {
    const events = await state.events(last, { ...call, limit: PAGE });
    last = events.at(-1)?.sequence ?? last;
    if (events.length < PAGE) return last;
  }
}

/** A name is told by the event itself, was told by an earlier one, or stands in the record. */
async function nameOf(
  { sandbox, data, type }: LitterboxEvent,
  names: Map<string, string>,
  state: Watching['state'],
  call: CallOptions,
): Promise<string | undefined> {
  if (sandbox === undefined) return undefined;
  const slug = data['slug'];
  const name = typeof slug === 'string' ? slug : (names.get(sandbox) ?? (await state.get(sandbox, call))?.slug);
  if (type === 'sandbox-deleted') names.delete(sandbox);
  else if (name !== undefined) names.set(sandbox, name);
  return name;
}

function asSandboxEvent(
  { sequence, atMs, type, sandbox, data }: LitterboxEvent,
  name: string | undefined,
): SandboxEvent | undefined {
  if (sandbox === undefined || !isSandboxEventType(type)) return undefined;
  // The facts are those that our own program published under this type.
  return { sequence, atMs, id: sandbox, ...(name !== undefined && { name }), type, data } as unknown as SandboxEvent;
}
