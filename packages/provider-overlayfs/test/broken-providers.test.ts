import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Artefacts,
  type ByteStream,
  CALL_VARIABLE,
  type ChangedPath,
  type Host,
  isLitterboxError,
  LitterboxError,
  type OpenPort,
  type OutputChunk,
  type ProcessHandle,
  type SandboxProvider,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { isRoot } from './backends.ts';
import { byShell, rewritingHost, rewritten } from './rewritten.ts';
import { describeSandboxProvider, failureOf, type TestRunner } from '@litterbox/conformance';

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

const facts = await host.facts();

/** In place of a control group that is shown comes something else: of a plan the words are counted. */
const withoutGroup = (controller: string) => {
  const shown = new RegExp(
    `--ro-bind('?[ \\0]'?)/sys/[^\\s\\0']+('?[ \\0]'?)/sys/fs/cgroup(?:/${controller})?(?=['\\s\\0])`,
    'g',
  );
  return (script: string) => script.replaceAll(shown, '--ro-bind$1/usr$2/usr');
};

/** The provider on a host that runs other scripts than it was told to. */
function scriptsWith(change: (script: string) => string): SandboxProvider {
  return providerWith(() => ({}), rewritingHost(host, change));
}

/** The same where shell text does what the session program does by system calls, which nobody can change from outside. */
function shellWith(change: (script: string) => string): SandboxProvider {
  return providerWith(() => ({}), rewritingHost(host, change), byShell);
}

/** Every member of the provider, forwarded; then what is broken. */
function providerWith(
  change: (inner: SandboxProvider) => Partial<SandboxProvider>,
  on: Host = host,
  more: Partial<typeof byShell> = {},
): SandboxProvider {
  const inner = overlayfs({ host: on, facts, directory, ...more });
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

function artefactsWith(change: (artefacts: Artefacts) => Artefacts, on: Host = host): SandboxProvider {
  return providerWith(
    (inner) => ({
      create: ({ artefacts, ...spec }, options) =>
        inner.create({ ...spec, ...(artefacts && { artefacts: change(artefacts) }) }, options),
    }),
    on,
  );
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

/** A filter in which the family of Unix sockets has another number. */
function withoutUnix(filter: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(filter);
  const view = new DataView(bytes.buffer);
  const [JUMP_IF_EQUAL, AF_UNIX, NONE] = [0x15, 1, 99];
  for (let at = 0; at < bytes.length; at += 8)
    if (view.getUint16(at, true) === JUMP_IF_EQUAL && view.getUint32(at + 4, true) === AF_UNIX)
      view.setUint32(at + 4, NONE, true);
  return bytes;
}

/** What some broken provider removes, in whatever instance. */
const removing = new Set<string>();

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
    'gives who runs no name',
    () => scriptsWith((script) => script.replaceAll('/etc-', '/nameless-').replace(/agent:x:.*\n/, '')),
    'who runs has a name, and localhost is known',
  ],
  [
    'does not say what localhost is',
    () => scriptsWith((script) => script.replaceAll('/etc-', '/hostless-').replaceAll('.1 localhost ', '.1 ')),
    'who runs has a name, and localhost is known',
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
    'loses the mark of a call',
    () =>
      runtimeWith((runtime) => ({
        spawn: ({ env, ...spec }, call) =>
          runtime.spawn({ ...spec, ...(env && { env: { ...env, [CALL_VARIABLE]: 'other' } }) }, call),
      })),
    'channel: what a program that is killed had begun ends, by its shells and by its mark',
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
    'lets programs see two processors whatever the limit',
    () =>
      providerWith((inner) => ({
        create: (spec, options) => inner.create({ ...spec, limits: { ...spec.limits, cpus: 2 } }, options),
      })),
    'programs see as many processors as they may use at once, and sandboxes are spread over them',
  ],
  [
    'shows no control group of memory',
    () => scriptsWith(withoutGroup('memory')),
    'channel: what the kernel killed for memory is told, whatever program hid it',
  ],
  [
    'shows no control group of processes',
    () => scriptsWith(withoutGroup('pids')),
    'channel: processes that could not be started are told, whatever program hid it',
  ],
  [
    'bounds temporary directories whatever the limit of memory',
    () => scriptsWith((script) => script.replaceAll(`${128 * 2 ** 20}`, `${512 * 2 ** 20}`)),
    'temporary directories and shared memory hold half of the memory limit each, and no more',
  ],
  [
    'has no Unix sockets',
    () =>
      overlayfs({
        facts,
        directory: join(directory, 'without-unix'), // the filter is kept in a file
        host: {
          ...host,
          files: {
            read: (...args) => host.files.read(...args),
            write: (path, bytes, options) =>
              host.files.write(path, path.endsWith('.bpf') ? withoutUnix(bytes) : bytes, options),
            makeDirectory: (...args) => host.files.makeDirectory(...args),
            list: (...args) => host.files.list(...args),
            stat: (...args) => host.files.stat(...args),
            rename: (...args) => host.files.rename(...args),
            remove: (...args) => host.files.remove(...args),
          },
        },
      }),
    'processes of one sandbox talk over Unix sockets, by a path, an abstract name or in pairs',
  ],
  [
    'gives programs one end of a pair of sockets',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) =>
          runtime.spawn(
            {
              ...spec,
              argv: [
                'perl',
                '-MSocket',
                '-e',
                '$^F = 99; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die $!; exec @ARGV',
                ...spec.argv,
              ],
            },
            call,
          ),
      })),
    'no descriptor of a program is a socket, however it was started',
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
    'stop() ends all processes, is idempotent, forgets no processor time, and new ones are refused until start()',
  ],
  [
    'believes that what it was told has ended',
    () => runtimeWith(() => ({ stop: async () => {} })),
    'process 1 is traced and told to lie, and nothing outlives a stop',
  ],
  [
    'leaves what runs in what it removes',
    () => providerWith(() => ({ remove: async () => {} })),
    'process 1 is traced and told to lie, and nothing outlives a removal',
  ],
  [
    'starts process 1 with a file of the host open for writing',
    () =>
      providerWith(
        (inner) => ({ create: (spec, options) => inner.create({ ...spec, allowDegraded: true }, options) }),
        rewritingHost(host, (word) => word.replaceAll('exec 0</dev/null 1>/dev/null 2>/dev/null\n(', '(')),
        byShell,
      ),
    'no link of a process leads out of the mounts that are there',
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
        traits: { ...inner.traits, limits: inner.traits.limits.filter((name) => name !== 'diskBytesPerSecond') },
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
    'makes an empty sandbox for a copy',
    () =>
      providerWith((inner) => ({
        create: ({ copyOf: _source, ...spec }, options) => inner.create(spec, options),
      })),
    'a copy has everything of its source: files of every kind, what is gone, home, playground',
  ],
  [
    'loses the marks of what is gone in a copy',
    () =>
      shellWith((script) =>
        script.replaceAll('cp -a --reflink=auto', 'cp -r --preserve=mode,links,timestamps,ownership'),
      ),
    'a copy has everything of its source: files of every kind, what is gone, home, playground',
  ],
  [
    'loses the modes in a copy',
    () => shellWith((script) => script.replaceAll('cp -a --reflink=auto', 'cp -a --no-preserve=mode --reflink=auto')),
    'a copy has everything of its source: files of every kind, what is gone, home, playground',
  ],
  [
    'links a copy to its source',
    () => shellWith((script) => script.replaceAll('cp -a --reflink=auto', 'cp -al')),
    'a copy and its source are apart: neither sees nor changes what the other one writes',
  ],
  [
    'leaves what it copied frozen',
    () =>
      shellWith((script) =>
        script.includes('setsid -w') ? script.replace(/echo (THAWED|0) >/g, 'echo >/dev/null >') : script,
      ),
    'what the source runs goes on, and the copy is of one moment',
  ],
  [
    'lets a paused sandbox go that it copied',
    () =>
      providerWith((inner) => ({
        create: async (spec, options) => {
          const made = await inner.create(spec, options);
          if (spec.copyOf !== undefined) await (await inner.open(spec.copyOf)).resume();
          return made;
        },
      })),
    'a source that is paused or stopped stays so, and its copy runs',
  ],
  [
    'tells of nothing in a copy',
    () =>
      providerWith((inner) => ({
        create: async (spec, options) => {
          const made = await inner.create(spec, options);
          if (spec.copyOf === undefined) return made;
          // Not by a mark of now: what was copied in the same tick of the kernel's clock would be told all the same.
          const silent = async function* (changes: AsyncIterable<ChangedPath>) {
            for await (const change of changes) if (change.path === '') yield change;
          };
          return {
            ...forward(made),
            async scan(mark, call) {
              const scanned = await made.scan(mark, call);
              return mark === undefined ? { ...scanned, changes: silent(scanned.changes) } : scanned;
            },
          };
        },
      })),
    'without a mark the copy tells what the source would; with one, what came after',
  ],
  [
    'leaves a copy that was aborted',
    () => providerWith((inner) => ({ create: (spec) => inner.create(spec) })),
    'a source that nobody made is NOT_FOUND, an aborted copy rejects with its reason; nothing is left',
  ],
  [
    'takes away what has the id of a copy that fails',
    () =>
      providerWith((inner) => ({
        create: async (spec, options) => {
          try {
            return await inner.create(spec, options);
          } catch (error) {
            if (spec.copyOf !== undefined && isLitterboxError(error, 'ALREADY_EXISTS')) await inner.remove(spec.id);
            throw error;
          }
        },
      })),
    'a copy under an id that is taken is ALREADY_EXISTS, and the sandbox that has it is unharmed',
  ],
  [
    'makes a copy of something else than its source is made of',
    () =>
      providerWith((inner) => ({
        create: ({ strategy: _strategy, ...spec }, options) =>
          inner.create(spec.copyOf === undefined ? spec : { ...spec, root: { type: 'machine' } }, options),
      })),
    'a copy that is to be made of something else than its source is UNSUPPORTED',
  ],
  [
    'lets sandboxes write into a kept setup',
    () =>
      shellWith((script) => {
        return script.replace(
          /overlay \/run\/home overlay lowerdir=\/run\/setup\/home,\S+/,
          '/run/setup/home /run/home none bind',
        );
      }),
    'sandboxes on one kept setup neither see nor change what another one writes',
  ],
  [
    'begins with what a setup built of other files, whose times say nothing of it',
    () => scriptsWith((script) => script.replace('/run/setup/upper:/run/newer:', '/run/setup/upper:')),
    'FC-04: over another base, files that differ are newer than what is kept, and equal ones keep their time',
  ],
  [
    'keeps what still is written to',
    () =>
      scriptsWith((script) =>
        script.includes('kept=') ? script.replace(/\( cd [\s\S]*?\nrm -f dying \) \|\| exit 1/, '') : script,
      ),
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
    'brings copies where there were hard links',
    () => scriptsWith((script) => script.replaceAll('timestamps,links', 'timestamps')),
    'what comes along is as it was, and nothing of the person is touched',
  ],
  [
    'brings files of now',
    () => scriptsWith((script) => script.replaceAll('mode,timestamps,links', 'mode,links')),
    'what comes along is as it was, and nothing of the person is touched',
  ],
  [
    'brings what came along the first time',
    () => scriptsWith((script) => script.replaceAll('| sha256sum |', '| sha256sum </dev/null |')),
    'each sandbox has its own, of the moment at which it was made',
  ],
  [
    'follows links to what is to come along',
    () => {
      const follow = (script: string) =>
        script.replaceAll('ro,nosymfollow', 'ro').replaceAll('[ ! -h "$lb_path" ]', 'true');
      const change = ({ source, ...rest }: Artefacts): Artefacts => ({
        ...rest,
        source: { ...source, host: rewritingHost(source.host, follow) },
      });
      return artefactsWith(change, rewritingHost(host, follow));
    },
    'no link leads out: one that is named is a link, and one above is refused',
  ],
  [
    'leaves what is newer as it was',
    () =>
      artefactsWith((artefacts) => ({
        ...artefacts,
        newerThan: async (since) => ({
          key: (await artefacts.newerThan(since)).key,
          open: () => ReadableStream.from([new Uint8Array(1024)]),
        }),
      })),
    'files of the base are newer as they are told to be, since the oldest of what comes',
  ],
  [
    'tells what came along as changed',
    () => scanWith((paths) => [...paths, { type: 'file', path: 'built/run', sizeBytes: 4, executable: true }]),
    'it is no change until it changes, and neither is what is newer',
  ],
  [
    'begins with a kept setup in place of what comes along',
    () =>
      providerWith((inner) => ({
        create: ({ artefacts, ...spec }, options) =>
          inner.create({ ...spec, ...(artefacts && !spec.prepared && { artefacts }) }, options),
      })),
    'it stands on no kept setup, and what a setup leaves over it is not kept',
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
  [
    'tells a probe of what no sandbox gets',
    () =>
      providerWith((inner) => ({
        probe: async (call) => ({
          ...(await inner.probe(call)),
          assurance: { provider: inner.name, mechanism: 'a vault', controls: [], readable: [] },
        }),
      })),
    'what the probe promises is what a sandbox gets, and the probe leaves no sandbox',
  ],
  [
    'has traits that change',
    () => providerWith((inner) => ({ traits: { ...inner.traits, roots: [...inner.traits.roots, 'machine'] } })),
    'traits are the same for every instance, and name what is known, each once',
  ],
  [
    'names a strategy twice',
    () => providerWith((inner) => ({ traits: { ...inner.traits, strategies: ['copy', 'copy'] } })),
    'traits are the same for every instance, and name what is known, each once',
  ],
  [
    'has a name that is no key',
    () => providerWith(() => ({ name: 'overlayfs@local' })),
    'the name is lower-case and stable, and probing says what was looked at',
  ],
  [
    'lies that it limits the disk',
    () =>
      providerWith((inner) => ({
        traits: { ...inner.traits, limits: [...new Set([...inner.traits.limits, 'diskBytes' as const])] },
        create: ({ limits: { diskBytes: _disk, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'the limit of disk holds, where the traits name one: who fills it has no space, nobody else',
  ],
  // Only root can bound a disk: elsewhere there is nothing to break.
  ...(isRoot
    ? ([
        [
          'bounds the workspace alone',
          () =>
            runtimeWith((runtime) => ({
              spawn: (spec, call) =>
                runtime.spawn({ ...spec, env: { ...runtime.environment, ...spec.env, HOME: '/tmp' } }, call),
            })),
          'the limit of disk holds, where the traits name one: who fills it has no space, nobody else',
        ],
        [
          'gives every directory a disk of its own size',
          () =>
            runtimeWith((runtime) => ({
              spawn: (spec, call) =>
                runtime.spawn(
                  rewritten(spec, (word) => word.replaceAll('"$HOME"/fill', '/dev/shm/fill')),
                  call,
                ),
            })),
          'the limit of disk holds, where the traits name one: who fills it has no space, nobody else',
        ],
        [
          'keeps nothing back of a disk to start with when it is full',
          () => scriptsWith((script) => script.replace('mkdir disk/reserve', 'false')),
          'the limit of disk bounds the number of files too, and a sandbox full of them can be emptied',
        ],
      ] as const)
    : []),
  [
    'lies that it limits the speed of the disk',
    () =>
      providerWith((inner) => ({
        create: ({ limits: { diskBytesPerSecond: _speed, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'the limit of disk speed holds, where the traits name one',
  ],
  [
    'lets the limit of open files be raised',
    () =>
      providerWith((inner) => ({
        create: ({ limits: { openFiles: _files, ...limits }, ...spec }, options) =>
          inner.create({ ...spec, limits }, options),
      })),
    'the limit of open files holds, and what is limited cannot be raised from inside',
  ],
  [
    'takes its own strategy for one that nobody knows',
    () =>
      providerWith((inner) => ({
        create: ({ strategy: _strategy, ...spec }, options) => inner.create(spec, options),
      })),
    'a root that the traits do not name, and a strategy that nobody knows, are UNSUPPORTED',
  ],
  [
    'gives one sandbox to two that create it',
    () =>
      providerWith((inner) => ({
        create: async (spec, options) => {
          try {
            return await inner.create(spec, options);
          } catch {
            for (;;)
              try {
                return await inner.open(spec.id);
              } catch {
                await new Promise((resolve) => setTimeout(resolve, 20)); // the other one is still at it
              }
          }
        },
      })),
    'of two that create one id at the same time, one has it and the other is told',
  ],
  [
    'forgets the environment when it opens',
    () =>
      providerWith((inner) => ({
        open: async (...args) => {
          const runtime = await inner.open(...args);
          const { KIT_VARIABLE: _forgotten, ...environment } = runtime.environment;
          return { ...forward(runtime), environment };
        },
      })),
    'what open() gives is what create() gave',
  ],
  [
    'stops the sandbox when one of its users goes',
    () =>
      runtimeWith((runtime) => ({
        [Symbol.asyncDispose]: async () => {
          await runtime.stop().catch(() => {});
          await runtime[Symbol.asyncDispose]();
        },
      })),
    'disposing a runtime ends what it started, and nothing of what another one started',
  ],
  [
    'leaves running what a disposed runtime started',
    () => runtimeWith(() => ({ [Symbol.asyncDispose]: async () => {} })),
    'disposing a runtime ends what it started, and nothing of what another one started',
  ],
  [
    'removes once only',
    () =>
      providerWith((inner) => ({
        remove: async (id, options) => {
          let isThere = false;
          for await (const one of inner.list()) isThere ||= one.id === id;
          if (isThere && removing.has(id)) throw new LitterboxError('NOT_FOUND', 'no', { operation: 'x' });
          removing.add(id);
          await inner.remove(id, options).finally(() => removing.delete(id));
        },
      })),
    'two that remove at the same time succeed, while programs print; what is held says so soon',
  ],
  [
    'says that everything is stopped',
    () =>
      providerWith((inner) => ({
        async *list(options) {
          for await (const { id } of inner.list(options)) yield { id, state: 'stopped' as const };
        },
      })),
    'list() tells what runs as running, and goes on while others come and go',
  ],
  [
    'counts processor time from the last stop on',
    () =>
      runtimeWith((runtime) => {
        let before = 0;
        return {
          stop: async () => {
            await runtime.stop();
            before = (await runtime.usage()).cpuMs ?? 0;
          },
          usage: async () => {
            const { cpuMs, ...usage } = await runtime.usage();
            return { ...usage, ...(cpuMs !== undefined && { cpuMs: cpuMs - before }) };
          },
        };
      }),
    'stop() ends all processes, is idempotent, forgets no processor time, and new ones are refused until start()',
  ],
  [
    'answers although the call was aborted',
    () => runtimeWith((runtime) => ({ usage: () => runtime.usage() })),
    'a call that was aborted before rejects with the reason, whichever it is',
  ],
  [
    'takes in all output although nobody reads',
    () =>
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
    'a program that nobody listens to is held back, and disposing it does not lose its exit',
  ],
  [
    'says that it wrote what nobody took',
    () =>
      processWith((inner) => ({
        write: async (bytes) => void inner.write(bytes),
      })),
    'write() waits while the program does not read, and ends when it does',
  ],
  [
    'waits for a reader that is dead',
    () => processWith((inner) => ({ write: (bytes) => inner.write(bytes).then(() => new Promise(() => {})) })),
    'a write() that waits ends when the program is killed',
  ],
  [
    'loses what is printed last',
    () =>
      processWith((inner) => ({
        [Symbol.asyncIterator]: () =>
          mapped(inner, (chunk) => ({
            ...chunk,
            bytes: chunk.bytes.at(-1) === 0x64 ? chunk.bytes.slice(0, -1) : chunk.bytes,
          })),
      })),
    'twenty thousand lines on each output arrive in order, to the last',
  ],
  [
    'takes exit codes for signed ones',
    () =>
      processWith((inner) => ({
        exit: inner.exit.then(({ code, ...more }) => ({ ...more, code: Math.min(code, 127) })),
      })),
    'exit codes are told as they are, up to 255',
  ],
  [
    'knows the signals that end alone',
    () =>
      processWith((inner) => ({
        kill: (signal) => inner.kill(signal.startsWith('SIGUSR') ? 'SIGTERM' : signal),
      })),
    'every signal of the port arrives, stopping and going on included',
  ],
  [
    'looks programs up in a PATH of its own',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) =>
          runtime.spawn(
            { ...spec, ...(spec.env && { env: { ...spec.env, PATH: runtime.environment['PATH'] ?? '' } }) },
            call,
          ),
      })),
    'a program is looked up in the PATH of its own environment',
  ],
  [
    'looks for programs of the home first',
    () =>
      runtimeWith((runtime) => {
        const environment = { ...runtime.environment, PATH: `/home/agent/.local/bin:${runtime.environment['PATH']}` };
        const spawn: SandboxRuntime['spawn'] = (spec, call) => runtime.spawn({ env: environment, ...spec }, call);
        return { environment, spawn };
      }),
    'programs that were installed into the home are found, behind those of the system',
  ],
  [
    'cuts long arguments',
    () =>
      runtimeWith((runtime) => ({
        spawn: ({ argv: [first, ...rest], ...spec }, call) =>
          runtime.spawn({ ...spec, argv: [first, ...rest.map((text) => text.slice(0, 65_536))] }, call),
      })),
    'a long argument, a thousand of them, and values of any bytes arrive verbatim',
  ],
  [
    'asks programs to end and hopes',
    () => processWith((inner) => ({ [Symbol.asyncDispose]: () => inner.kill('SIGTERM') })),
    'disposing ends what is stopped, deaf to signals, or left by its parent',
  ],
  [
    'refuses what is new while it is paused and lets the rest run',
    () => {
      const paused = new Set<string>();
      const refuse = (runtime: SandboxRuntime) => {
        if (paused.has(runtime.id)) throw new LitterboxError('SANDBOX_PAUSED', 'paused', { operation: 'x' });
      };
      return runtimeWith((runtime) => ({
        pause: async () => void paused.add(runtime.id),
        resume: async () => void paused.delete(runtime.id),
        spawn: async (...args) => (refuse(runtime), await runtime.spawn(...args)),
      }));
    },
    'what is paused stands still with its memory, and goes on where it was',
  ],
  [
    'wakes a paused sandbox to look for changes',
    () =>
      runtimeWith((runtime) => ({
        scan: async (...args) => (await runtime.resume(), await runtime.scan(...args)),
      })),
    'a paused sandbox cannot be scanned, nor a stopped one',
  ],
  [
    'loses what is written while it is paused',
    () => {
      let isPaused = false;
      const inner = runtimeWith((runtime) => ({
        pause: async () => ((isPaused = true), await runtime.pause()),
        resume: async () => (await runtime.resume(), void (isPaused = false)),
        spawn: async (...args) => {
          const handle = await runtime.spawn(...args);
          return Object.assign(Object.create(handle) as ProcessHandle, {
            exit: handle.exit,
            write: async (bytes: Uint8Array) => {
              await Promise.resolve();
              if (!isPaused) await handle.write(bytes);
            },
            closeStdin: () => handle.closeStdin(),
            [Symbol.asyncIterator]: () => handle[Symbol.asyncIterator](),
            [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose](),
          });
        },
      }));
      return inner;
    },
    'ten quick pauses by two instances lose no byte of a stream',
  ],
  [
    'follows links when it looks for changes',
    () =>
      scanWith((paths) =>
        paths.flatMap((path): readonly ChangedPath[] =>
          path.type === 'symlink' && path.path === 'root'
            ? [path, { type: 'file', path: 'root/etc/passwd', sizeBytes: 1, executable: false }]
            : [path],
        ),
      ),
    'a scan never leads out by a link, and a directory that became one is a link',
  ],
  [
    'cuts long names',
    () => scanWith((paths) => paths.map((path) => ({ ...path, path: path.path.slice(0, 1024) }))),
    'names of 255 bytes, and a path of almost four thousand, are told',
  ],
  [
    'counts sizes in 32 bits',
    () =>
      scanWith((paths) =>
        paths.map((path) => (path.type === 'file' ? { ...path, sizeBytes: path.sizeBytes % 2 ** 32 } : path)),
      ),
    'a file of eight gibibytes that holds nothing is told with its size, at no cost',
  ],
  [
    'takes names for marks of deletions',
    () =>
      scanWith((paths) =>
        paths.map((path) =>
          path.type === 'directory'
            ? { ...path, children: path.children.filter(({ name }) => !name.startsWith('.wh.')) }
            : path,
        ),
      ),
    'what looks like a deletion to a file system is none that is told',
  ],
  [
    'goes by times that programs set',
    () => scanWith((paths) => paths.filter(({ path }) => path !== 'README')),
    'no time that a program sets on a file hides a change',
  ],
  [
    'scans once at a time and lets go of nothing',
    () => {
      let scans = 0;
      return runtimeWith((runtime) => ({
        scan: async (...args) => {
          scans += 1;
          const { next, changes } = await runtime.scan(...args);
          return {
            next,
            changes: (async function* () {
              for await (const change of changes) if (scans === 1) yield change;
              scans -= 1;
            })(),
          };
        },
      }));
    },
    'a scan that is left early, and two at once, harm neither each other nor the next',
  ],
  [
    "keeps the old sandbox's files for the next of its id",
    () => {
      const kept = new Map<string, string>();
      return providerWith((inner) => ({
        remove: async (id, options) => (kept.set(id, 'old'), await inner.remove(id, options)),
        create: async (spec, options) => {
          const runtime = await inner.create(spec, options);
          if (kept.has(spec.id)) await (await runtime.spawn({ argv: ['sh', '-c', 'echo old >~/old'] })).exit;
          return runtime;
        },
      }));
    },
    'an id that was removed can be made again, and nothing of the old sandbox is there',
  ],
  [
    'makes a base while another one makes it',
    () =>
      providerWith((inner) => {
        let made = 0;
        return {
          create: async (spec, options) => {
            const runtime = await inner.create(spec, options);
            made += 1;
            if (made === 2) await (await runtime.spawn({ argv: ['rm', '-rf', 'dir0'] })).exit;
            return runtime;
          },
        };
      }),
    'four sandboxes at once on a base that nobody had are whole, and each its own',
  ],
  [
    'has every address of the machine inside',
    () =>
      runtimeWith((runtime) => ({
        spawn: (spec, call) =>
          // A client that is asked to go to a port of the machine does.
          spec.argv[2]?.includes('PeerHost') ? host.spawn(spec, call) : runtime.spawn(spec, call),
      })),
    'a server on the loopback of the machine cannot be reached from inside',
  ],
  [
    'sends a signal to a neighbour too',
    () => {
      const handles = new Set<ProcessHandle>();
      return runtimeWith((runtime) => ({
        spawn: async (...args) => {
          if (args[0].argv[2]?.startsWith('kill -9 -1')) for (const one of handles) await one.kill('SIGKILL');
          const handle = await runtime.spawn(...args);
          handles.add(handle);
          return handle;
        },
      }));
    },
    'a signal to every process ends nothing outside of the sandbox',
  ],
  [
    "shows the kernel's log",
    () => insideWith(/^for f in \/proc\/kcore/, 'echo "read /proc/kmsg"; '),
    'memory, log, symbols and keys of the kernel cannot be read',
  ],
  [
    'lets devices be made',
    () => insideWith(/^for d in "c 1 3"/, 'echo "made c 1 3"; '),
    'no device file can be made or copied',
  ],
  [
    'ends both ways of a connection from inside at once',
    () =>
      listenWith((runtime, port, onConnection) =>
        runtime.listen?.(port, (stream) => {
          const writer = stream.writable.getWriter();
          onConnection({
            readable: stream.readable,
            writable: new WritableStream<Uint8Array>({
              write: (bytes) => writer.write(bytes),
              close: () => stream[Symbol.asyncDispose](),
            }),
            [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
          });
        }),
      ),
    'listen leads from inside to this process: every byte arrives, and each direction ends by itself',
  ],
  [
    'goes on listening on a port that was closed',
    () =>
      listenWith(async (runtime, port, onConnection) => {
        await runtime.listen?.(port, onConnection);
        const { promise: ended, resolve } = Promise.withResolvers<void>();
        return { ended, [Symbol.asyncDispose]: async () => resolve() };
      }),
    'listen: who is let go outside is gone inside, and the port is gone with all its connections when it is disposed',
  ],
  [
    'does not tell that a port is gone',
    () =>
      listenWith(async (runtime, port, onConnection) => {
        const open = await runtime.listen?.(port, onConnection);
        return { ended: new Promise(() => {}), [Symbol.asyncDispose]: async () => await open?.[Symbol.asyncDispose]() };
      }),
    'listen: who is let go outside is gone inside, and the port is gone with all its connections when it is disposed',
  ],
  [
    'gives the connections of every sandbox to who listened last',
    () => {
      let last: (stream: ByteStream) => void = () => {};
      return listenWith((runtime, port, onConnection) => {
        last = onConnection;
        return runtime.listen?.(port, (stream) => last(stream));
      });
    },
    'listen: another sandbox does not reach it, and the same port of two is each its own',
  ],
  [
    'listens again by itself when a sandbox is started',
    () =>
      runtimeWith((runtime) => {
        const asked: Parameters<NonNullable<SandboxRuntime['listen']>>[] = [];
        const listen: SandboxRuntime['listen'] = async (...args) => {
          const port = await runtime.listen?.(...args);
          if (!port) throw new Error('The runtime cannot listen.');
          asked.push(args);
          return port;
        };
        return {
          listen,
          start: async (call) => {
            await runtime.start(call);
            for (const args of asked.splice(0)) await runtime.listen?.(...args);
          },
        };
      }),
    'listen refuses taken and impossible ports by name; connections wait during a pause, and stop ends it',
  ],
  [
    'takes in all that is sent although nobody reads',
    () =>
      connectWith(async (runtime, port) => {
        const stream = await runtime.connect?.(port);
        if (!stream) throw new Error('The runtime cannot connect.');
        const writer = stream.writable.getWriter();
        return {
          readable: stream.readable,
          writable: new WritableStream<Uint8Array>({
            write: (bytes) => {
              writer.write(bytes).catch(() => {});
            },
          }),
          [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
        };
      }),
    'what does not read holds the writer back, and who leaves is gone for the other side',
  ],
  [
    'passes on the signals alone that end programs',
    () =>
      processWith((inner) => ({
        kill: async (signal) => {
          if (signal !== 'SIGHUP') await inner.kill(signal);
        },
      })),
    'services: restarted and stopped by the signals of their own, and how they ended is told',
  ],
  [
    'ends what runs with the instance that made the sandbox',
    () =>
      providerWith((inner) => ({
        create: async (...args) => {
          const runtime = await inner.create(...args);
          return {
            ...forward(runtime),
            [Symbol.asyncDispose]: async () => {
              await runtime.stop().catch(() => {}); // removed meanwhile
              await runtime.start().catch(() => {});
              await runtime[Symbol.asyncDispose]();
            },
          };
        },
      })),
    'services: outlive who made the sandbox and every call beside them, and others see what they do',
  ],
  [
    'keeps variables of our names from programs',
    () =>
      runtimeWith((runtime) => ({
        spawn: ({ env, ...spec }, call) => {
          const { LITTERBOX_SERVICE: _kept, ...rest } = env ?? {};
          return runtime.spawn({ ...spec, ...(env && { env: rest }) }, call);
        },
      })),
    'services: what somebody left who was killed is ended, and runs once under the next',
  ],
];

/** A runtime in which a script of the kit finds something. */
function insideWith(script: RegExp, before: string): SandboxProvider {
  return runtimeWith((runtime) => ({
    spawn: ({ argv: [first, ...rest], ...spec }, call) =>
      runtime.spawn(
        { ...spec, argv: [first, ...rest.map((text) => (script.test(text) ? before + text : text))] },
        call,
      ),
  }));
}

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

function listenWith(
  listen: (
    runtime: SandboxRuntime,
    port: number,
    onConnection: (stream: ByteStream) => void,
  ) => Promise<OpenPort> | undefined,
): SandboxProvider {
  return runtimeWith((runtime) => ({
    listen: async (port, onConnection) => {
      const listener = await listen(runtime, port, onConnection);
      if (!listener) throw new Error('The runtime cannot listen.');
      return listener;
    },
  }));
}

describe('the kit catches broken providers', () => {
  it('has at least 150 tests, each with a title of its own', () => {
    const titles: string[] = [];
    const runner: TestRunner = { describe: (_name, body) => body(), it: (title) => void titles.push(title) };
    describeSandboxProvider({ name: 'counted', runner, open: async () => overlayfs({ host, facts, directory }), host });
    expect(titles.length).toBeGreaterThanOrEqual(150);
    expect(new Set(titles).size).toBe(titles.length);
  });

  for (const [what, provider, caughtBy] of BROKEN) {
    it(`one that ${what}`, async () => {
      const failure = await failureOf(
        (runner) => describeSandboxProvider({ name: what, runner, open: async () => provider(), host }),
        caughtBy,
        5_000, // a test that never ends is red too
      );
      expect(failure).toBeDefined();
      expect(failure?.name).not.toBe('TypeError'); // that would be a broken provider of this file, not one that was caught
      await cleanUp();
    });
  }

  it.each([
    ['memory', 'every control is reported, and none that is mandatory is missing'],
    ['pause', 'a paused sandbox does nothing, keeps its processes, and refuses new ones in under a second'],
    ['pause', 'services: a pause holds them, and they go on where they were'],
  ] as const)('one that is said to lack %s and has it: %s', async (lacking, caughtBy) => {
    const failure = await failureOf(
      (runner) =>
        describeSandboxProvider({
          name: `lacking ${lacking}`,
          runner,
          open: async () => overlayfs({ host, facts, directory }),
          host,
          lacking: [lacking],
        }),
      caughtBy,
      15_000,
    );
    expect(failure?.name).toBe('AssertionError');
    await cleanUp();
  });
});

/** What a broken provider left behind. */
async function cleanUp(): Promise<void> {
  await using provider = overlayfs({ host, facts, directory });
  for await (const { id } of provider.list()) await provider.remove(id);
}
