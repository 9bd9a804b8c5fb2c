import {
  exitStatusOf,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type ProcessSpec,
  type SignalName,
} from '@litterbox/core/provider';
import type { MemoryMachine } from '../machine/memory-machine.ts';
import { nothing, type OpenFile, pipe } from '../machine/open-file.ts';
import { runProgram } from '../machine/run-program.ts';

const SIGNALS: Readonly<Partial<Record<SignalName, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
};

/** Starts a program in a machine, as the port has it. */
export function memoryProcess(
  machine: MemoryMachine,
  { argv, cwd = '/', env = {}, stdin = 'none', terminal }: ProcessSpec,
): ProcessHandle {
  const [program, ...args] = argv;
  const input = stdin === 'pipe' || terminal ? pipe() : undefined;
  const [out, errors] = [pipe(), pipe()];
  const files = new Map<number, OpenFile>([
    [0, input?.reader ?? nothing()],
    [1, out.writer],
    [2, terminal ? out.writer : errors.writer],
  ]);
  if (terminal) {
    out.writer.holders += 1;
    errors.writer.end();
  }
  const parent = { pid: 1, cwd, env: new Map(Object.entries(env)), files: new Map<number, OpenFile>() };
  const process = machine.start(parent, argv, (one) => runProgram(one, program, args), files);
  const exit = process.exit.then(exitStatusOf);
  let isStdinOpen = true;
  const closeStdin = async () => {
    if (isStdinOpen) input?.writer.end();
    isStdinOpen = false;
  };
  return {
    exit,
    async write(bytes) {
      if (!input)
        throw new LitterboxError('INVALID_ARGUMENT', 'The process has no stdin.', { operation: 'process.write' });
      if (isStdinOpen) await Promise.race([input.writer.write(bytes), process.exit]);
    },
    closeStdin,
    async kill(signal) {
      const number = SIGNALS[signal];
      if (number !== undefined) process.kill(number);
    },
    ...(terminal && { resize: async () => {} }),
    [Symbol.asyncIterator]: () => merged(out.reader, errors.reader),
    async [Symbol.asyncDispose]() {
      const family = machine.familyOf(process.pid);
      for (const one of family) one.kill(9);
      await Promise.all(family.map((one) => one.exit));
      await closeStdin();
      out.reader.end();
      errors.reader.end();
    },
  };
}

/** Both streams as they come, until both have ended. */
async function* merged(stdout: OpenFile, stderr: OpenFile): AsyncGenerator<OutputChunk, void, undefined> {
  const next = (type: OutputChunk['type'], file: OpenFile) => file.read().then((bytes) => ({ type, file, bytes }));
  const waiting = new Map<OutputChunk['type'], ReturnType<typeof next>>([
    ['stdout-data', next('stdout-data', stdout)],
    ['stderr-data', next('stderr-data', stderr)],
  ]);
  while (waiting.size > 0) {
    const { type, file, bytes } = await Promise.race(waiting.values());
    if (!bytes) {
      waiting.delete(type);
      continue;
    }
    waiting.set(type, next(type, file));
    yield { type, bytes };
  }
}
