import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Host, SandboxId, type SandboxProvider, type SnapshotProvider } from '@litterbox/core/provider';
import { describeSnapshotProvider, failureOf } from '../src/index.ts';
import { directoryProvider } from './directory-provider.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-snapshots-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
/** No test of snapshots asks it anything. */
const host = {} as Host;

describeSnapshotProvider({
  name: 'plain directories',
  runner: { describe, it },
  open: async () => directoryProvider(directory),
  host,
});

/** What is broken, and the title of the test that one would expect to catch it. */
const BROKEN: readonly (readonly [
  what: string,
  change: (inner: SnapshotProvider) => Partial<SnapshotProvider>,
  caughtBy: string,
])[] = [
  [
    'restores nothing',
    () => ({ restore: async () => {} }),
    'restoring brings everything back as it was, and takes away what came since',
  ],
  [
    'has one snapshot alone',
    (inner) => ({
      take: async (id, call) => (latest = await inner.take(id, call)),
      restore: (id) => inner.restore(id, latest),
    }),
    'snapshots are apart: each brings its own state, in any order',
  ],
  [
    'takes what it restores for what it keeps',
    (inner) => ({
      restore: async (id, name) => {
        if (spent.has(name)) return;
        spent.add(name);
        await inner.restore(id, name);
      },
    }),
    'a snapshot stays as it is, however often it is restored and written over',
  ],
  [
    'forgets snapshots with their sandbox',
    () => ({ async *list() {} }),
    'a snapshot outlives its sandbox, and other instances list and restore it',
  ],
  [
    'keeps the first line of a note alone',
    (inner) => ({
      async *list(call) {
        for await (const { note, ...one } of inner.list(call))
          yield { ...one, ...(note !== undefined && { note: note.split('\n', 1)[0] ?? '' }) };
      },
    }),
    'the list tells of each its sandbox, its time and what the caller noted',
  ],
  [
    'tells the time in seconds',
    (inner) => ({
      async *list(call) {
        for await (const one of inner.list(call)) yield { ...one, takenAtMs: Math.floor(one.takenAtMs / 1000) };
      },
    }),
    'the list tells of each its sandbox, its time and what the caller noted',
  ],
  [
    'says another sandbox',
    (inner) => ({
      async *list(call) {
        for await (const one of inner.list(call)) yield { ...one, sandbox: SandboxId.make() };
      },
    }),
    'the list tells of each its sandbox, its time and what the caller noted',
  ],
  [
    'tells the usage of one for that of all',
    (inner) => ({
      usage: async (names, call) => {
        const told = await inner.usage(names, call);
        const [usage] = told.values();
        return new Map([...told.keys()].map((name) => [name, usage ?? { diskBytes: 0 }]));
      },
    }),
    'usage tells what each of them takes, and nothing of those that are gone',
  ],
  [
    'has more of its own than there is',
    (inner) => ({
      usage: async (names, call) => {
        const told = [...(await inner.usage(names, call))];
        return new Map(told.map(([name, { diskBytes }]) => [name, { diskBytes, ownBytes: diskBytes + 1 }]));
      },
    }),
    'usage tells what each of them takes, and nothing of those that are gone',
  ],
  [
    'removes all snapshots',
    (inner) => ({
      remove: async () => {
        for await (const { name } of inner.list()) await inner.remove(name);
      },
    }),
    'removing is idempotent, touches nothing else, and what was removed is in no list',
  ],
  [
    'takes a snapshot although the call was aborted',
    (inner) => ({ take: (id: SandboxId) => inner.take(id) }),
    'a sandbox that nobody made is NOT_FOUND, an aborted call rejects with its reason',
  ],
  [
    'leaves what it froze frozen',
    (inner) => ({
      take: async (id, call) => {
        const name = await inner.take(id, call);
        await using runtime = await directoryProvider(directory).open(id);
        // Nothing is written from now on. Whoever writes may be faster than one mkdir.
        const stuck = 'until [ -d b.new ]; do rm -f b.new; mkdir b.new; done 2>/dev/null';
        await (await runtime.spawn({ argv: ['sh', '-c', stuck] })).exit;
        return name;
      },
    }),
    'a snapshot is of one moment, while programs write',
  ],
];

let latest = '';
const spent = new Set<string>();

describe('the kit catches broken snapshots', () => {
  for (const [what, change, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const open = async (): Promise<SandboxProvider> => {
        const inner = directoryProvider(directory);
        return { ...inner, snapshots: { ...inner.snapshots, ...change(inner.snapshots) } };
      };
      const failure = await failureOf(
        (runner) => describeSnapshotProvider({ name: what, runner, open, host }),
        caughtBy,
      );
      expect(failure).toBeDefined();
      expect(failure?.name).not.toBe('TypeError'); // that would be a broken provider of this file, not one that was caught
    });
  }
});
