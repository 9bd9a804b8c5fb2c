import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { describeHost, failureOf } from '@litterbox/conformance';
import { type Host, type HostFiles, type OutputChunk, type ProcessHandle } from '@litterbox/core/provider';
import { localHost } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-broken-host-'));
const local = localHost();
afterAll(() => local.files.remove(directory)); // Node's own removal fails on what one of them leaves

function filesWith(change: Partial<HostFiles>): Host {
  const { files } = local;
  const forwarded: HostFiles = {
    read: (...args) => files.read(...args),
    write: (...args) => files.write(...args),
    makeDirectory: (...args) => files.makeDirectory(...args),
    list: (...args) => files.list(...args),
    stat: (...args) => files.stat(...args),
    rename: (...args) => files.rename(...args),
    remove: (...args) => files.remove(...args),
  };
  return { ...local, files: { ...forwarded, ...change } };
}

function processWith(change: (inner: ProcessHandle) => Partial<ProcessHandle>): Host {
  return {
    ...local,
    spawn: async (...args) => {
      const inner = await local.spawn(...args);
      const handle: ProcessHandle = {
        exit: inner.exit,
        write: (bytes) => inner.write(bytes),
        closeStdin: () => inner.closeStdin(),
        kill: (signal) => inner.kill(signal),
        [Symbol.asyncIterator]: () => inner[Symbol.asyncIterator](),
        [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
      };
      return { ...handle, ...change(inner) };
    },
  };
}

/** What is broken, and the title of the test that one would expect to catch it. */
const BROKEN: readonly (readonly [what: string, host: Host, caughtBy: string])[] = [
  [
    "passes this program's environment on",
    {
      ...local,
      spawn: ({ env, ...spec }, call) =>
        local.spawn({ ...spec, env: env ?? { PATH: process.env['PATH'] ?? '', HOME: '/', NODE_OPTIONS: '' } }, call),
    },
    'without more words a program gets PATH, HOME and LANG, runs in /, and leads a group',
  ],
  [
    'starts programs in its own directory',
    { ...local, spawn: (spec, call) => local.spawn({ cwd: process.cwd(), ...spec }, call) },
    'without more words a program gets PATH, HOME and LANG, runs in /, and leads a group',
  ],
  [
    'takes in all output although nobody reads',
    processWith((inner) => {
      const chunks: OutputChunk[] = [];
      const reading = (async () => {
        for await (const chunk of inner) chunks.push(chunk);
      })();
      return {
        async *[Symbol.asyncIterator]() {
          await reading;
          yield* chunks;
        },
      };
    }),
    'a program that nobody listens to is held back, and a signal reaches its whole group',
  ],
  [
    'lets go of what a program printed before anybody listens',
    processWith((inner) => {
      let hasEnded = false;
      void inner.exit.then(() => (hasEnded = true));
      return {
        async *[Symbol.asyncIterator]() {
          if (!hasEnded) yield* inner;
        },
      };
    }),
    'what a program printed before anybody listens is there, also when it has ended',
  ],
  [
    'forgets modes',
    filesWith({ write: (path, bytes, options) => local.files.write(path, bytes, { signal: options?.signal }) }),
    'files: modes, owners and types are told, and a directory that is there keeps its mode',
  ],
  [
    'tells what is behind a link',
    filesWith({
      list: async (path, call) =>
        (await local.files.list(path, call))?.map((entry) => ({
          ...entry,
          type: entry.type === 'symlink' ? ('file' as const) : entry.type,
        })),
    }),
    'files: modes, owners and types are told, and a directory that is there keeps its mode',
  ],
  [
    'writes through a link',
    filesWith({ write: (path, bytes) => writeFile(path, bytes) }),
    'files: reading follows a link, writing, renaming and listing do not',
  ],
  [
    'makes room for a rename',
    filesWith({
      rename: async (source, target) => {
        await local.files.remove(target);
        await local.files.rename(source, target);
      },
    }),
    'files: a rename over a directory with files fails and changes nothing, and of nothing too',
  ],
  [
    'writes in place',
    filesWith({
      write: async (path, bytes) => {
        await writeFile(path, bytes.slice(0, bytes.length / 2));
        await writeFile(path, bytes);
      },
      read: async (path) => new Uint8Array(await readFile(path)),
    }),
    'files: whoever reads while it is written sees one whole content or the other',
  ],
  [
    'fails on trees that are deeper than a path',
    filesWith({ remove: (path) => rm(path, { recursive: true, force: true }) }),
    'files: removal reaches deeper than any path',
  ],
  [
    'removes although the call was aborted',
    filesWith({ remove: (path) => local.files.remove(path) }),
    'a call that was aborted before rejects with the reason, whichever it is',
  ],
  [
    'ends both ways of a connection at once',
    {
      ...local,
      connect: async (address, call) => {
        const stream = await local.connect(address, call);
        const writer = stream.writable.getWriter();
        return {
          ...stream,
          readable: stream.readable,
          writable: new WritableStream<Uint8Array>({
            write: (bytes) => writer.write(bytes),
            close: () => stream[Symbol.asyncDispose](),
          }),
          [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
        };
      },
    },
    'a connection carries bytes both ways, and each way ends by itself',
  ],
];

describe('the kit catches broken hosts', () => {
  for (const [what, host, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const open = async () => ({ ...host, [Symbol.asyncDispose]: async () => {} });
      const failure = await failureOf(
        (runner) => describeHost({ name: what, runner, open, directory: async () => directory }),
        caughtBy,
      );
      expect(failure).toBeDefined();
      expect(failure?.name).not.toBe('TypeError'); // that would be a broken host of this file, not one that was caught
    });
  }
});
