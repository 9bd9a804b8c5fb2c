import type { SandboxSummary } from 'litterbox';
import { decoded } from '../door/decoded.ts';
import type { ServedSandbox } from '../served-sandbox.ts';
import type { ListQuery } from './control-input.ts';

const PAGE = 100;
type Listed = readonly [ServedSandbox, Pick<SandboxSummary, 'createdAtMs'>];

/** A page of those that were asked for, and where the next one begins. */
export function listPage<One extends Listed>(
  all: readonly One[],
  { metadata, state, startedAfter, template, order = 'desc', limit = PAGE, nextToken = 0 }: ListQuery,
): { readonly page: readonly One[]; readonly next: number | undefined } {
  // Names and values are encoded twice: once each, and once as a whole.
  const wanted = [...new URLSearchParams(metadata ?? '')].map((pair) => pair.map(decoded));
  const afterMs = startedAfter === undefined ? 0 : Date.parse(startedAfter);
  const found = all.filter(
    ([{ traits, isPaused }, { createdAtMs }]) =>
      wanted.every(([name = '', value]) => traits.metadata[name] === value) &&
      (state === undefined || state.includes(isPaused ? 'paused' : 'running')) &&
      createdAtMs >= afterMs &&
      (template === undefined || traits.template === template),
  );
  const sorted = found.toSorted(([, left], [, right]) => left.createdAtMs - right.createdAtMs);
  const page = (order === 'asc' ? sorted : sorted.toReversed()).slice(nextToken, nextToken + limit);
  const next = nextToken + page.length;
  return { page, next: next < found.length ? next : undefined };
}
