import type { CallOptions } from '@litterbox/core/provider';
import type { ExecEngine, ExecRequest, RawExec } from '@litterbox/sandbox-kit';
import type { Engine } from '../engine/engine.ts';
import { ContainerExec } from './container-exec.ts';

/** The engine, for programs of one container. */
export function execEngineOf(engine: Engine, container: string): ExecEngine {
  return {
    provider: engine.provider,
    title: engine.title,
    async start({ script, environment, hasTerminal, hasStdin }: ExecRequest, options?: CallOptions): Promise<RawExec> {
      const { exec, stream } = await engine.exec(
        container,
        {
          Cmd: ['/bin/sh', '-c', script(false)],
          Env: [...environment],
          AttachStdin: hasStdin,
          AttachStdout: true,
          AttachStderr: !hasTerminal,
          Tty: hasTerminal,
          WorkingDir: '/',
          Privileged: false,
        },
        options,
      );
      return new ContainerExec(engine, stream, {
        id: exec,
        hasTerminal,
        inspect: async (docker, signal) => docker.getExec(exec).inspect({ abortSignal: signal }),
      });
    },
  };
}
