import {
  type CallOptions,
  CALL_VARIABLE,
  ExecChannel,
  KILL_FUNCTION,
  type NamespaceLoopback,
  type ProcessHandle,
  type ProcessSpec,
} from '@litterbox/core/provider';
import { ProgramLoopback } from '@litterbox/linux-sandbox';
import { ExecProcess } from '@litterbox/sandbox-kit';
import type { KubeApi } from './api/kube-api.ts';
import { OWN_ENVIRONMENT } from './own-environment.ts';
import { BESIDE, podExecEngine } from './pod-exec.ts';
import { SOCKETS } from './pod-spec.ts';
import { StartGate } from './start-gate.ts';

export interface PodLoopbackInput {
  readonly api: KubeApi;
  readonly provider: string;
  readonly pod: string;
}

const TELL_MS = 10_000;
const OPEN_FILES = 4096;

/**
 * The loopback of a pod, by programs in Perl that run in the container beside that of the sandbox: it has the same network, and nothing inside
 * can see them, end them or take their place.
 */
export function podLoopback(input: PodLoopbackInput): NamespaceLoopback {
  const started = new Set<ExecProcess>();
  const gate = new StartGate();
  const start = async (spec: ProcessSpec, isOwn: boolean, options?: CallOptions): Promise<ProcessHandle> => {
    const process = await gate.through(() =>
      ExecProcess.start(
        {
          engine: podExecEngine(input.api, input.provider, { pod: input.pod, container: BESIDE }),
          spec: { ...spec, cwd: '/', env: { ...OWN_ENVIRONMENT, [CALL_VARIABLE]: crypto.randomUUID() } },
          inherited: [],
          openFiles: OPEN_FILES,
          processors: [],
          ...(!isOwn && { runBeside: (script) => tell(script) }),
          onEnd: (one) => started.delete(one),
        },
        options,
      ),
    );
    if (!isOwn) started.add(process);
    return process;
  };
  const control = new ExecChannel({ spawn: (spec, options) => start(spec, true, options) });
  const tell = async (script: string) => {
    await control
      .run({ argv: ['-'], script: `${KILL_FUNCTION}${script}`, timeoutMs: TELL_MS, maxOutputBytes: 1024 })
      .catch(() => undefined); // the pod has ended, and so have the programs
  };
  const programs = new ProgramLoopback({
    enter: [],
    spawn: (spec, options) => start(spec, false, options),
    newSocketPath: async () => `${SOCKETS}/${crypto.randomUUID()}`,
  });
  return {
    connect: (port, options) => programs.connect(port, options),
    listen: (port, onConnection, options) => programs.listen(port, onConnection, options),
    async [Symbol.asyncDispose]() {
      await programs[Symbol.asyncDispose]();
      await Promise.allSettled([...started].map((process) => process[Symbol.asyncDispose]()));
      await control[Symbol.asyncDispose]();
    },
  };
}
