import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ByteStream,
  type ChangedPath,
  type Host,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type SandboxProvider,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { describeSandboxProvider, type TestRunner } from '@litterbox/conformance';

const handles: ProcessHandle[] = [];
const local = localHost();
/** This machine; what broken providers leave running is ended at the end. */
const host: Host = {
  ...local,
  spawn: async (spec, options) => {
    const handle = await local.spawn(spec, options);
    handles.push(handle);
    return handle;
  },
};
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-broken-'));
});
afterAll(async () => {
  await Promise.allSettled(handles.map((handle) => handle[Symbol.asyncDispose]()));
  rmSync(directory, { recursive: true, force: true });
});

/** The provider on a host that runs other scripts than it was told to. */
function scriptsWith(change: (script: string) => string): SandboxProvider {
  const spawn: Host['spawn'] = (spec, options) => {
    const [first, ...rest] = spec.argv;
    return host.spawn({ ...spec, argv: [first, ...rest.map(change)] }, options);
  };
  return providerWith(() => ({}), { ...host, spawn });
}

/** Every member of the provider, forwarded; then what is broken. */
function providerWith(change: (inner: SandboxProvider) => Partial<SandboxProvider>, on: Host = host): SandboxProvider {
  const inner = overlayfs({ host: on, directory });
  const forwarded: SandboxProvider = {
    name: inner.name,
    traits: inner.traits,
    probe: (...args) => inner.probe(...args),
    create: (...args) => inner.create(...args),
    open: (...args) => inner.open(...args),
    list: (...args) => inner.list(...args),
    remove: (...args) => inner.remove(...args),
    ...(inner.setups && { setups: inner.setups }),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  return { ...forwarded, ...change(inner) };
}

function forward(runtime: SandboxRuntime): SandboxRuntime {
  return {
    id: runtime.id,
    workdir: runtime.workdir,
    playground: runtime.playground,
    environment: runtime.environment,
    ...(runtime.prepared !== undefined && { prepared: runtime.prepared }),
    assurance: (...args) => runtime.assurance(...args),
    spawn: (...args) => runtime.spawn(...args),
    scan: (...args) => runtime.scan(...args),
    mark: (...args) => runtime.mark(...args),
    pause: (...args) => runtime.pause(...args),
    resume: (...args) => runtime.resume(...args),
    stop: (...args) => runtime.stop(...args),
    start: (...args) => runtime.start(...args),
    usage: (...args) => runtime.usage(...args),
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}

function runtimeWith(change: (inner: SandboxRuntime) => Partial<SandboxRuntime>): SandboxProvider {
  return providerWith((inner) => ({
    create: async (...args) => {
      const runtime = await inner.create(...args);
      return { ...forward(runtime), ...change(runtime) };
    },
    open: async (...args) => {
      const runtime = await inner.open(...args);
      return { ...forward(runtime), ...change(runtime) };
    },
  }));
}

function processWith(change: (inner: ProcessHandle) => Partial<ProcessHandle>): SandboxProvider {
  return runtimeWith((runtime) => ({
    spawn: async (...args) => {
      const inner = await runtime.spawn(...args);
      const handle: ProcessHandle = {
        exit: inner.exit,
        write: (bytes) => inner.write(bytes),
        closeStdin: () => inner.closeStdin(),
        kill: (signal) => inner.kill(signal),
        ...(inner.resize && {
          resize: (size: { columns: number; rows: number }) => inner.resize?.(size) ?? Promise.resolve(),
        }),
        [Symbol.asyncIterator]: () => inner[Symbol.asyncIterator](),
        [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
      };
      return { ...handle, ...change(inner) };
    },
  }));
}

function scanWith(change: (paths: readonly ChangedPath[]) => readonly ChangedPath[]): SandboxProvider {
  return runtimeWith((runtime) => ({
    scan: async (...args) => {
      const { next, changes } = await runtime.scan(...args);
      const paths: ChangedPath[] = [];
      for await (const path of changes) paths.push(path);
      return {
        next,
        changes: (async function* () {
          yield* change(paths);
        })(),
      };
    },
  }));
}

async function* mapped(
  handle: ProcessHandle,
  change: (chunk: OutputChunk) => OutputChunk,
): AsyncGenerator<OutputChunk, void, undefined> {
  for await (const chunk of handle) yield change(chunk);
}

/** What is broken, and the title of the test that one would expect to catch it. */
const BROKEN: readonly (readonly [what: string, provider: () => SandboxProvider, caughtBy: string])[] = [
  [
    'mixes stderr into stdout',
    () =>
      processWith((inner) => ({
        [Symbol.asyncIterator]: () => mapped(inner, ({ bytes }) => ({ type: 'stdout-data', bytes })),
      })),
    'stdout, stderr and the exit code are apart',
  ],
  [
    'says that everything succeeded',
    () => processWith(() => ({ exit: Promise.resolve({ code: 0 }) })),
    'stdout, stderr and the exit code are apart',
  ],
  [
    'decodes output as text',
    () =>
      processWith((inner) => ({
        [Symbol.asyncIterator]: () =>
          mapped(inner, (chunk) => ({
            ...chunk,
            bytes: new TextEncoder().encode(new TextDecoder().decode(chunk.bytes)),
          })),
      })),
    'bytes of any value pass through stdin and stdout, more than a pipe holds',
  ],
  [
    'joins arguments into a shell string',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) => runtime.spawn({ ...spec, argv: ['sh', '-c', spec.argv.join(' ')] }, call),
      })),
    'arguments arrive verbatim, without a shell',
  ],
  [
    'ignores the working directory',
    () => runtimeWith((runtime) => ({ spawn: ({ cwd: _cwd, ...spec }, call) => runtime.spawn(spec, call) })),
    'a working directory is taken, relative names start there, and a missing one is NOT_FOUND',
  ],
  [
    'adds to the environment it was given',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) => runtime.spawn({ ...spec, ...(spec.env && { env: { ...spec.env, EXTRA: '1' } }) }, call),
      })),
    'the environment is what was given, and nothing else but what shells add',
  ],
  [
    'leaves processes running when it is disposed',
    () => processWith(() => ({ [Symbol.asyncDispose]: async () => {} })),
    'disposing ends children, grandchildren and those that left the session',
  ],
  ['swallows signals', () => processWith(() => ({ kill: async () => {} })), 'a program can catch a signal'],
  [
    'keeps stdin open for ever',
    () => processWith(() => ({ closeStdin: async () => {} })),
    'bytes of any value pass through stdin and stdout, more than a pipe holds',
  ],
  [
    'starts programs although the signal was aborted',
    () => runtimeWith((runtime) => ({ spawn: (spec) => runtime.spawn(spec) })),
    'aborting ends a program, and a signal that was aborted before starts nothing',
  ],
  [
    'gives a terminal of another size',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) =>
          runtime.spawn({ ...spec, ...(spec.terminal && { terminal: { columns: 80, rows: 24 } }) }, call),
      })),
    'a terminal is a real one with the size asked for, or UNSUPPORTED says why not',
  ],
  [
    'misses deletions',
    () => scanWith((paths) => paths.filter(({ type }) => type !== 'directory')),
    'deleted files and directories',
  ],
  [
    'misses files that are deep',
    () => scanWith((paths) => paths.filter(({ path }) => path.split('/').length < 3)),
    'new files and directories',
  ],
  [
    'takes links for files',
    () =>
      scanWith((paths) =>
        paths.map((path) =>
          path.type === 'symlink' ? { type: 'file', path: path.path, sizeBytes: 0, executable: false } : path,
        ),
      ),
    'new files and directories',
  ],
  [
    'loses the executable bit',
    () => scanWith((paths) => paths.map((path) => (path.type === 'file' ? { ...path, executable: false } : path))),
    'a changed file is told with its size and its executable bit',
  ],
  [
    'passes over what it cannot read',
    () => scanWith((paths) => paths.filter(({ type, path }) => type !== 'unreadable' && !path.startsWith('secret'))),
    'a directory that cannot be read is told, not passed over',
  ],
  [
    'reports files for fifos',
    () =>
      scanWith((paths) =>
        paths.map((path) =>
          path.type === 'special' ? { type: 'file', path: path.path, sizeBytes: 0, executable: false } : path,
        ),
      ),
    'fifos are told as special',
  ],
  [
    'forgets what a mark meant',
    () => runtimeWith((runtime) => ({ scan: (_mark, call) => runtime.scan(undefined, call) })),
    'a mark that was asked for means what comes after it',
  ],
  [
    'does not pause',
    () => runtimeWith(() => ({ pause: async () => {} })),
    'a paused sandbox does nothing, keeps its processes, and refuses new ones in under a second',
  ],
  [
    'does not stop',
    () => runtimeWith(() => ({ stop: async () => {} })),
    'stop() ends all processes, is idempotent, and new ones are refused until start()',
  ],
  [
    'knows only its own sandboxes',
    () =>
      providerWith((inner) => {
        const own = new Set<string>();
        return {
          create: async (spec, options) => (own.add(spec.id), await inner.create(spec, options)),
          async *list(options) {
            for await (const status of inner.list(options)) if (own.has(status.id)) yield status;
          },
        };
      }),
    'another instance lists and opens what this one made, and sees its files',
  ],
  [
    'removes nothing',
    () => providerWith(() => ({ remove: async () => {} })),
    'remove() ends what runs, is idempotent, and touches no other sandbox',
  ],
  [
    'takes an id twice',
    () =>
      providerWith((inner) => ({
        create: async (spec, options) => await inner.create(spec, options).catch(() => inner.open(spec.id)),
      })),
    'an id that is taken is ALREADY_EXISTS, and the sandbox that has it is unharmed',
  ],
  [
    'ignores a limit it cannot enforce',
    () =>
      providerWith((inner) => ({
        create: ({ limits: { diskBytes: _disk, diskBytesPerSecond: _speed, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'what the provider says it cannot limit is refused as UNSUPPORTED',
  ],
  [
    'ignores the limit of processes',
    () =>
      providerWith((inner) => ({
        create: ({ limits: { processes: _processes, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'the limit of processes holds, the sandbox recovers, and its neighbour does not notice',
  ],
  [
    'ignores the limit of memory',
    () =>
      providerWith((inner) => ({
        create: ({ limits: { memoryBytes: _memory, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'the limit of memory holds: who goes beyond it is killed, nobody else',
  ],
  [
    'hides a missing control',
    () =>
      runtimeWith((runtime) => ({ assurance: async (call) => ({ ...(await runtime.assurance(call)), controls: [] }) })),
    'every control is reported, and none that is mandatory is missing',
  ],
  [
    'shares one playground',
    () =>
      providerWith((inner) => ({
        create: (spec, options) =>
          inner.create({ ...spec, playground: '11111111-1111-4111-8111-111111111111' }, options),
      })),
    'playgrounds are apart unless they have one key, and outlive commands',
  ],
  [
    'takes the playground along',
    () => providerWith((inner) => ({ remove: (id, options) => inner.remove(id, { signal: options?.signal }) })),
    'remove() leaves the playground when it is told to, and then only',
  ],
  [
    'says NOT_FOUND by another name',
    () =>
      providerWith((inner) => ({
        open: (id, options) =>
          inner.open(id, options).catch(() => Promise.reject(new LitterboxError('INTERNAL', 'no', { operation: 'x' }))),
      })),
    'open() of an id that nobody made is NOT_FOUND',
  ],
  [
    'lets sandboxes write into a kept setup',
    () =>
      scriptsWith((script) => {
        return script.replace(
          /mount -t overlay overlay -o lowerdir=\/run\/setup\/home,\S+ \/run\/home/,
          'mount --bind /run/setup/home /run/home',
        );
      }),
    'sandboxes on one kept setup neither see nor change what another one writes',
  ],
  [
    'keeps what still is written to',
    () =>
      scriptsWith((script) => (script.includes('kept=') ? script.replace(/^\( [\s\S]*?\) \|\| exit 1/, '') : script)),
    'keeping ends all processes: nobody writes into what is kept',
  ],
  [
    'says that it used a kept setup and did not',
    () =>
      providerWith((inner) => ({
        create: async ({ prepared, ...spec }, options) => ({
          ...forward(await inner.create(spec, options)),
          ...(prepared?.[1] !== undefined && { prepared: prepared[1] }),
        }),
      })),
    'a sandbox begins with everything a setup left, and the one it was kept from goes on with it',
  ],
  [
    "leaks the host's environment",
    () =>
      providerWith((inner) => ({
        create: (spec, options) =>
          inner.create(
            {
              ...spec,
              environment: {
                ...spec.environment,
                ...(process.env['LITTERBOX_KIT_SECRET'] && { LEAK: process.env['LITTERBOX_KIT_SECRET'] }),
              },
            },
            options,
          ),
      })),
    "nothing of the host's environment can be read",
  ],
  [
    'connects to the machine where nothing listens inside',
    () =>
      connectWith((runtime, port) =>
        runtime
          .connect?.(port)
          .catch((error: unknown) => host.connect({ host: '127.0.0.1', port }).catch(() => Promise.reject(error))),
      ),
    'nothing that listens is UNAVAILABLE, and the machine itself is not what answers',
  ],
  [
    'knows 127.0.0.1 alone',
    () =>
      connectWith((runtime, port) =>
        port === 8082
          ? Promise.reject(new LitterboxError('UNAVAILABLE', 'no', { operation: 'x' }))
          : runtime.connect?.(port),
      ),
    'connect reaches a server on 127.0.0.1, on ::1, and on every address',
  ],
  [
    'connects to the sandbox that was opened first',
    () => {
      let first: SandboxRuntime | undefined;
      return connectWith((runtime, port) => (first ??= runtime).connect?.(port));
    },
    'the same port of two sandboxes leads to each its own',
  ],
];

function connectWith(
  connect: (runtime: SandboxRuntime, port: number) => Promise<ByteStream> | undefined,
): SandboxProvider {
  return runtimeWith((runtime) => ({
    connect: async (port) => {
      const stream = await connect(runtime, port);
      if (!stream) throw new Error('The runtime cannot connect.');
      return stream;
    },
  }));
}

/** A runner that keeps the tests instead of running them. */
function recorder(): { readonly runner: TestRunner; readonly tests: Map<string, () => Promise<void>> } {
  const tests = new Map<string, () => Promise<void>>();
  return { tests, runner: { describe: (_name, body) => body(), it: (title, body) => void tests.set(title, body) } };
}

describe('the kit catches broken providers', () => {
  it('has at least 95 tests, each with a title of its own', () => {
    const { runner, tests } = recorder();
    let count = 0;
    describeSandboxProvider({
      name: 'counted',
      runner: { ...runner, it: (title, body) => ((count += 1), runner.it(title, body)) },
      open: async () => overlayfs({ host, directory }),
      host,
    });
    expect(count).toBeGreaterThanOrEqual(95);
    expect(tests.size).toBe(count);
  });

  for (const [what, provider, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const { runner, tests } = recorder();
      describeSandboxProvider({ name: what, runner, open: async () => provider(), host });
      const test = tests.get(caughtBy);
      if (!test) throw new Error(`the kit has no test '${caughtBy}'`);
      const failed = await Promise.race([
        test().then(
          () => false,
          () => true,
        ),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 8_000).unref()), // a test that never ends is red too
      ]);
      expect(failed).toBe(true);
      await cleanUp();
    });
  }
});

/** What a broken provider left behind. */
async function cleanUp(): Promise<void> {
  await using provider = overlayfs({ host, directory });
  for await (const { id } of provider.list()) await provider.remove(id);
}
