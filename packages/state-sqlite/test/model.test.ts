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

/** What the store should say, without time. */
class Model {
  records: SandboxRecord[] = [];

  apply(next: Step): unknown {
    switch (next.type) {
      case 'insert': {
        if (this.records.some(({ repositoryId, slug }) => repositoryId === next.repositoryId && slug === next.slug)) {
          return 'SANDBOX_EXISTS';
        }
        if (this.records.some(({ id }) => id === next.id)) return 'ALREADY_EXISTS';
        this.records.push({ ...fixtureRecord({ ...next, updatedAtMs: 0 }), generation: 1 });
        return this.records.at(-1);
      }
      case 'update': {
        const record = this.records.find(({ id }) => id === next.id);
        if (!record) return 'NOT_FOUND';
        if (record.generation - next.generation !== record.generation) return 'CONFLICT';
        const members = Object.entries({ ...record, ...next.change, generation: record.generation + 1 });
        const changed = Object.fromEntries(members.filter(([, value]) => value !== null)) as unknown as SandboxRecord;
        this.records[this.records.indexOf(record)] = changed;
        return changed;
      }
      case 'remove':
        this.records = this.records.filter(({ id }) => id !== next.id);
        return 'removed';
      case 'find':
        return this.records.find(({ repositoryId, slug }) => repositoryId === next.repositoryId && slug === next.slug);
      case 'reopen':
        break;
    }
    return 'reopened';
  }
}

async function applyTo(state: StateStore, model: Model, next: Step): Promise<unknown> {
  switch (next.type) {
    case 'insert': {
      return state.insert(fixtureRecord({ ...next, updatedAtMs: 0 }));
    }
    case 'update': {
      const known = model.records.find(({ id }) => id === next.id) ?? {
        ...fixtureRecord({ id: next.id }),
        generation: 1,
      };
      return state.update({ ...known, generation: known.generation - next.generation }, next.change);
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

test('does what a list in memory does, for any sequence of calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using fixture = new StateFixture();
      let { state } = fixture.open();
      const model = new Model();
      for (const next of steps) {
        if (next.type === 'reopen') {
          await fixture.close();
          ({ state } = fixture.open());
        }
        const got = await applyTo(state, model, next).catch((error: unknown) =>
          isLitterboxError(error) ? error.code : Promise.reject(error),
        );
        expect(withoutTime(got)).toEqual(withoutTime(model.apply(next)));
        expect(withoutTime(await state.list())).toEqual(withoutTime(model.records));
      }
    }),
    { numRuns: 60 },
  );
});
