import {
  type Assurance,
  assertPort,
  CALL_VARIABLE,
  type CallOptions,
  CONTROLS,
  INSIDE,
  LitterboxError,
  type LitterboxErrorCode,
  type ProcessHandle,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { isCallers } from '../machine/is-callers.ts';
import { directoryOf, environmentOf, type MemorySandbox } from './memory-sandbox.ts';
import { memoryProcess } from './memory-process.ts';
import { memoryStream } from '../tools/memory-stream.ts';
import type { SandboxShelf } from './sandbox-shelf.ts';
import { scanMemory } from './scan-memory.ts';

/** What every sandbox in memory has in force: nothing of this machine is in it. */
export function memoryAssurance(provider: string): Assurance {
  const controls = CONTROLS.map((name) => ({
    name,
    status: 'enforced' as const,
    finding: 'It is in memory alone.',
  }));
  return { provider, mechanism: 'memory', controls, readable: [] };
}

/** A sandbox as one program has it open. */
export function memoryRuntime(sandbox: MemorySandbox, shelf: SandboxShelf, provider: string): SandboxRuntime {
  const { machine, spec, prepared } = sandbox;
  const handles = new Set<ProcessHandle>();
  const opened = new Set<() => void>();
  const refuse = (code: LitterboxErrorCode, message: string) =>
    new LitterboxError(code, message, { operation: 'runtime.use', provider });
  const assertThere = () => {
    if (shelf.sandboxes.get(spec.id) !== sandbox) throw refuse('UNAVAILABLE', 'The sandbox is gone.');
  };
  const assertRunning = (options?: CallOptions) => {
    options?.signal?.throwIfAborted();
    assertThere();
    if (sandbox.state === 'paused') throw refuse('SANDBOX_PAUSED', 'The sandbox is paused.');
    if (sandbox.state !== 'running') throw refuse('SANDBOX_STOPPED', 'The sandbox is stopped.');
  };
  const environment = environmentOf(spec);
  return {
    id: spec.id,
    workdir: spec.workdir,
    playground: INSIDE.playground,
    environment,
    ...(prepared !== undefined && { prepared }),

    async assurance(options) {
      options?.signal?.throwIfAborted();
      return memoryAssurance(provider);
    },

    async spawn(process, options) {
      assertRunning(options);
      shelf.spawned.push(process);
      const { argv, cwd = spec.workdir } = process;
      const [program] = argv;
      if (machine.files.look(cwd)?.type !== 'directory') throw refuse('NOT_FOUND', `There is no directory ${cwd}.`);
      const path = program.startsWith('/') ? program : `${cwd}/${program}`;
      const isThere =
        machine.programs.has(program.replace(/^(?:\/usr)?\/bin\//, '')) ||
        machine.files.look(path) ||
        (machine.unknown && isCallers(process.env?.[CALL_VARIABLE]));
      if (!isThere) throw refuse('NOT_FOUND', `There is no program ${program}.`);
      const handle = memoryProcess(machine, { env: environment, ...process, cwd });
      handles.add(handle);
      void handle.exit.then(() => handles.delete(handle));
      return handle;
    },

    async scan(mark, options) {
      assertRunning(options);
      const next = String(machine.files.version);
      const changes = [...scanMemory(directoryOf(sandbox, spec.workdir), Number(mark ?? 0))];
      return {
        next,
        changes: (async function* () {
          yield* changes;
        })(),
      };
    },

    async mark(options) {
      options?.signal?.throwIfAborted();
      return String(machine.files.version);
    },

    async pause(options) {
      options?.signal?.throwIfAborted();
      assertThere();
      if (sandbox.state === 'stopped') throw refuse('SANDBOX_STOPPED', 'The sandbox is stopped.');
      machine.freeze();
      sandbox.state = 'paused';
    },

    async resume(options) {
      options?.signal?.throwIfAborted();
      assertThere();
      machine.thaw();
      sandbox.state = 'running';
    },

    async stop(options) {
      options?.signal?.throwIfAborted();
      assertThere();
      sandbox.state = 'stopped';
      await endSandbox(sandbox);
    },

    async start(options) {
      options?.signal?.throwIfAborted();
      assertThere();
      machine.thaw();
      sandbox.state = 'running';
    },

    async connect(port, options) {
      assertRunning(options);
      const listener = sandbox.ports.get(port);
      if (!listener) throw refuse('UNAVAILABLE', `Nothing listens on ${port}.`);
      const [near, far] = memoryStream();
      listener(far);
      return near;
    },

    async listen(port, onConnection, options) {
      assertPort('runtime.listen', port);
      assertRunning(options);
      if (sandbox.ports.has(port) || sandbox.exits.has(port)) throw refuse('PORT_TAKEN', `${port} is taken.`);
      let isEnded = () => {};
      const ended = new Promise<void>((resolve) => {
        isEnded = resolve;
      });
      const end = () => {
        if (sandbox.exits.get(port)?.end === end) sandbox.exits.delete(port);
        opened.delete(end);
        isEnded();
      };
      sandbox.exits.set(port, { listener: onConnection, end });
      opened.add(end);
      return { ended, [Symbol.asyncDispose]: async () => end() };
    },

    async usage(options) {
      options?.signal?.throwIfAborted();
      return { processes: sandbox.state === 'stopped' ? 0 : machine.processes.size + 1 };
    },

    async [Symbol.asyncDispose]() {
      for (const end of opened) end();
      await Promise.all([...handles].map((handle) => handle[Symbol.asyncDispose]()));
    },
  };
}

/** Ends all processes and all that leads out; what is frozen ends too. */
export async function endSandbox({ machine, exits }: MemorySandbox): Promise<void> {
  for (const { end } of exits.values()) end();
  await machine.endAll();
  machine.thaw();
}
