import { type CallOptions, type SandboxId } from '@litterbox/core/provider';
import { LABELS } from './container-options.ts';
import type { Engine } from './engine.ts';

/** The container of a sandbox, as the engine tells. */
export interface FoundContainer {
  readonly id: string;
  readonly state: 'running' | 'paused' | 'ended';
}

/** Finds the container of the sandbox by its label. */
export async function findContainer(
  engine: Engine,
  id: SandboxId,
  call?: CallOptions,
): Promise<FoundContainer | undefined> {
  const filters = { label: [`${LABELS.id}=${id}`] };
  const [found] = await engine.ask(
    'runtime.find',
    async (docker, signal) => docker.listContainers({ all: true, filters, abortSignal: signal }),
    call,
  );
  if (!found) return undefined;
  const state = found.State === 'running' || found.State === 'paused' ? found.State : 'ended';
  return { id: found.Id, state };
}
