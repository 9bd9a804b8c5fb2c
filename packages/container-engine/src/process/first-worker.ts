import { type CallOptions, encodeRaw, printfFormat, quoted } from '@litterbox/core/provider';
import type { ExecEngine, ExecRequest, RawExec } from '@litterbox/sandbox-kit';
import type { Engine } from '../engine/engine.ts';
import { ContainerExec } from './container-exec.ts';

/**
 * The engine, for the shell that a container began with: it is there already, and no program has to be started in the container, which takes an engine
 * as long as much of a container's start. For a shell that takes its commands from its input alone: what that leaves behind holds
 * the output of the container, which is nobody's once the shell has ended.
 *
 * @param word of its first process
 */
export function firstWorkerOf(engine: Engine, container: string, word: string): ExecEngine {
  return {
    provider: engine.provider,
    title: engine.title,
    word,
    async start({ script, environment }: ExecRequest, options?: CallOptions): Promise<RawExec> {
      const exec = new ContainerExec(engine, await engine.attach(container, options), {
        id: '',
        hasTerminal: false,
        // Its first process says how it ended. The engine is asked whether it is there at all.
        inspect: async (docker, signal) => {
          await docker.getContainer(container).inspect({ abortSignal: signal });
          return {};
        },
      });
      await exec.write(encodeRaw(`\n${word} ${lineOf(environment, script(false))}\n`));
      return exec;
    },
  };
}

/** The environment is no argument, which every user of the machine reads. */
function lineOf(environment: readonly string[], script: string): string {
  const exports = environment.flatMap((entry) => {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(entry) ?? [];
    return name === undefined ? [] : [`export ${name}=${quoted(value)}`]; // any other is the container's own
  });
  const text = [...exports, script].join('\n');
  return printfFormat(encodeRaw(text)).replaceAll('\n', '\\012');
}
