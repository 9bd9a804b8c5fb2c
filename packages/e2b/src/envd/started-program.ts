import type { Sandbox } from 'litterbox';
import type { ProcessConfig } from './process-config.ts';

/** A program inside, with pipes or with a terminal. */
export interface StartedProgram {
  /** By the names that the protocol has for them. */
  readonly outputs: readonly (readonly ['stdout' | 'stderr' | 'pty', AsyncIterable<Uint8Array>])[];
  write(bytes: Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Present if it has a terminal. */
  resize?(size: TerminalSize): Promise<void>;
  /** Resolves when it has ended and its changes are recorded. */
  wait(): Promise<{ readonly exitCode: number; readonly signal?: string }>;
  /** Ends it and all that it started. */
  end(): Promise<void>;
}

/** In characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Clients wrap each command so. A login shell would set PATH anew, and not every image has bash. */
const WRAPPED = ['-l', '-c'];
const commandOf = ({ cmd, args }: ProcessConfig): string | readonly [string, ...string[]] => {
  const [first, second, text] = args;
  const isText =
    /^(?:\/(?:usr\/)?bin\/)?bash$/.test(cmd) && args.length === 3 && first === WRAPPED[0] && second === WRAPPED[1];
  return isText && text !== undefined ? text : [cmd, ...args];
};

export async function startWithPipes(
  sandbox: Sandbox,
  config: ProcessConfig,
  stdin: 'pipe' | 'none',
): Promise<StartedProgram> {
  const spawned = await sandbox.spawn(commandOf(config), { ...placeOf(config), stdin });
  const writer = spawned.stdin.getWriter();
  return {
    outputs: [
      ['stdout', spawned.stdout],
      ['stderr', spawned.stderr],
    ],
    write: async (bytes) => await writer.write(bytes),
    closeStdin: async () => await writer.close(),
    kill: async (signal) => await spawned.kill(signal),
    wait: async () => await spawned.wait(),
    end: async () => await spawned[Symbol.asyncDispose](),
  };
}

export async function startWithTerminal(
  sandbox: Sandbox,
  config: ProcessConfig,
  terminal: TerminalSize,
): Promise<StartedProgram> {
  const attached = await sandbox.attach({ ...placeOf(config), command: [config.cmd, ...config.args], terminal });
  const { process } = attached;
  return {
    outputs: [['pty', bytesOf(process)]],
    write: async (bytes) => await process.write(bytes),
    closeStdin: async () => await process.closeStdin(),
    kill: async (signal) => await process.kill(signal),
    resize: async (size) => await process.resize?.(size),
    async wait() {
      const exit = await process.exit;
      await attached.finish(exit);
      return { exitCode: exit.code, ...(exit.signal !== undefined && { signal: exit.signal }) };
    },
    end: async () => await process[Symbol.asyncDispose](),
  };
}

const placeOf = ({ cwd, envs }: ProcessConfig) => ({ env: envs, ...(cwd !== undefined && { cwd }) });

async function* bytesOf(chunks: AsyncIterable<{ readonly bytes: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of chunks) yield bytes;
}
