import { expect, test } from '@jest/globals';
import { fixtureRecord } from '@litterbox/conformance';
import {
  isLitterboxError,
  RepositoryId,
  SandboxId,
  type SandboxRecord,
  slugify,
  type StateStore,
} from '@litterbox/core/provider';
import { memoryState, StateShelf } from '@litterbox/memory';
import { handClock } from '@litterbox/testing';
import * as fc from 'fast-check';
import { StateFixture } from './state-fixture.ts';

const REPOSITORIES = [RepositoryId.make(), RepositoryId.make()] as const;
const SANDBOXES = [SandboxId.make(), SandboxId.make(), SandboxId.make()] as const;
const SLUGS = ['one', 'two'].map((name) => slugify(name).slug);

const pick = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const change = fc.record(
  {
    state: pick(['creating', 'ready', 'paused', 'deleting'] as const),
    mark: fc.option(fc.string({ unit: 'binary' })),
    setupLog: fc.option(fc.string()),
    workdir: fc.string(),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  fc.record({
    type: fc.constant('insert' as const),
    id: pick(SANDBOXES),
    repositoryId: pick(REPOSITORIES),
    slug: pick(SLUGS),
  }),
  fc.record({
    type: fc.constant('update' as const),
    id: pick(SANDBOXES),
    generation: fc.integer({ min: 0, max: 3 }),
    change,
  }),
  fc.record({ type: fc.constant('remove' as const), id: pick(SANDBOXES) }),
  fc.record({ type: fc.constant('find' as const), repositoryId: pick(REPOSITORIES), slug: pick(SLUGS) }),
  fc.record({ type: fc.constant('reopen' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** @param known the record that the caller has, which may be an older one than the store's */
async function applyTo(state: StateStore, known: SandboxRecord | undefined, next: Step): Promise<unknown> {
  switch (next.type) {
    case 'insert': {
      return state.insert(fixtureRecord({ ...next, updatedAtMs: 0 }));
    }
    case 'update': {
      const record = known ?? { ...fixtureRecord({ id: next.id }), generation: 1 };
      return state.update({ ...record, generation: record.generation - next.generation }, next.change);
    }
    case 'remove':
      await state.remove(next.id);
      return 'removed';
    case 'find':
      return state.find(next.repositoryId, next.slug);
    case 'reopen':
      break;
  }
  return 'reopened';
}

const withoutTime = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutTime)
    : typeof value === 'object' && value !== null
      ? { ...value, updatedAtMs: 0, type: undefined }
      : value;

const outcomeOf = (call: Promise<unknown>) =>
  call.catch((error: unknown) => (isLitterboxError(error) ? error.code : Promise.reject(error)));

test('does what a list in memory does, for any sequence of calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using fixture = new StateFixture();
      let { state } = fixture.open();
      const memory = memoryState(new StateShelf(), handClock());
      for (const next of steps) {
        if (next.type === 'reopen') {
          await fixture.close();
          ({ state } = fixture.open());
        }
        const known = 'id' in next ? await memory.get(next.id) : undefined;
        const got = await outcomeOf(applyTo(state, known, next));
        expect(withoutTime(got)).toEqual(withoutTime(await outcomeOf(applyTo(memory, known, next))));
        expect(withoutTime(await state.list())).toEqual(withoutTime(await memory.list()));
      }
    }),
    { numRuns: 60 },
  );
});
