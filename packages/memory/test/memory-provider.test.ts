import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, describeSnapshotProvider, someGroups } from '@litterbox/conformance';
import { type Host } from '@litterbox/core/provider';
import { memoryProvider, realClock, SandboxShelf } from '../src/index.ts';

const shelf = new SandboxShelf();

/** A machine on which nothing runs, for tests that look there for what must not run. */
const host = {
  spawn: async () => ({
    exit: Promise.resolve({ code: 0 }),
    async *[Symbol.asyncIterator]() {},
    async [Symbol.asyncDispose]() {},
  }),
} as unknown as Host;

// These groups ask for what use cases ask for. Of `changes` and `copies` it passes all but tests that look with `find`, `grep` or
// `head` of a device. The others ask for a kernel: for its own facts, signals, terminals and sockets, which memory does not have.
const GROUPS = ['lifecycle', 'traits', 'run states', 'setups'] as const;

describeSandboxProvider({
  name: 'memory',
  runner: someGroups({ describe, it, afterAll }, GROUPS),
  open: async () => memoryProvider({ shelf, clock: realClock }),
  host,
});

// A script that gives no answer changes nothing.
describe('with a script', () => {
  const scripted = new SandboxShelf();
  describeSandboxProvider({
    name: 'memory with a script',
    runner: someGroups({ describe, it, afterAll }, GROUPS),
    open: async () => memoryProvider({ shelf: scripted, clock: realClock, script: () => undefined }),
    host,
  });
});

describeSnapshotProvider({
  name: 'memory',
  runner: { describe, it, afterAll },
  open: async () => memoryProvider({ shelf, clock: realClock }),
  host,
});
