import { type CallOptions, type SandboxId } from '@litterbox/core/provider';
import { LABELS } from './container-options.ts';
import type { Engine } from './engine.ts';
import { noAnswer } from './no-answer.ts';

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
  const answer: unknown = await engine.ask(
    'runtime.find',
    async (docker, signal) => docker.listContainers({ all: true, filters, abortSignal: signal }),
    call,
  );
  if (!Array.isArray(answer)) throw noAnswer(engine, 'runtime.find', 'its containers');
  if (answer.length === 0) return undefined;
  const found = answer[0] as Readonly<Record<'Id' | 'State', unknown>> | null;
  if (typeof found?.Id !== 'string' || !/^[0-9a-f]{12,64}$/.test(found.Id))
    throw noAnswer(engine, 'runtime.find', 'a container');
  const state = found.State === 'running' || found.State === 'paused' ? found.State : 'ended';
  return { id: found.Id, state };
}
