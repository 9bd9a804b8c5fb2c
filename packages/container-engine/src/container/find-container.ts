import { type CallOptions, LitterboxError, type SandboxId } from '@litterbox/core/provider';
import { isObjectOf } from '@litterbox/linux-sandbox';
import { workspaceVolume } from './container-options.ts';
import type { Engine } from '../engine/engine.ts';
import { LABELS } from '../engine/labels.ts';
import { noAnswer } from '../engine/invalid-answer.ts';

/** The container of a sandbox, as the engine tells. */
export interface FoundContainer {
  readonly id: string;
  readonly state: 'running' | 'paused' | 'ended';
}

/**
 * Finds the container of the sandbox: by its label, which an image may have given to another one as well, and by the sandbox's volume,
 * which no image can name.
 *
 * @throws LitterboxError `CONFLICT` where several containers have both
 */
export async function findContainer(
  engine: Engine,
  id: SandboxId,
  options?: CallOptions,
): Promise<FoundContainer | undefined> {
  const listed = await listContainers(engine, 'runtime.find', `${LABELS.id}=${id}`, options);
  const volume = workspaceVolume(id);
  const [found, ...more] = listed.filter(({ volumes }) => volumes.includes(volume));
  if (!found || more.length === 0) return found;
  const ids = [found, ...more].map((one) => one.id.slice(0, 12)).join(' ');
  throw new LitterboxError('CONFLICT', `${engine.title} has several containers of one sandbox: ${ids}.`, {
    operation: 'runtime.find',
    provider: engine.provider,
    hint: `Look which of them somebody else made (${engine.kind} inspect ${ids}), remove that one and try again.`,
    facts: { volume },
  });
}

/** A container as an engine lists it. */
export interface ListedContainer extends FoundContainer {
  /** Without the slash that engines put before them. */
  readonly names: readonly string[];
  /** Names of the volumes that are mounted in it. */
  readonly volumes: readonly string[];
}

/** All containers with the label, whoever gave it to them. */
export async function listContainers(
  engine: Engine,
  operation: string,
  label: string,
  options?: CallOptions,
): Promise<readonly ListedContainer[]> {
  const answer: unknown = await engine.ask(
    operation,
    async (docker, signal) => docker.listContainers({ all: true, filters: { label: [label] }, abortSignal: signal }),
    options,
  );
  if (!Array.isArray(answer)) throw noAnswer(engine, operation, 'its containers');
  return answer.map((one: unknown) => {
    if (!isObjectOf(one, () => true)) throw noAnswer(engine, operation, 'a container');
    const { Id, State, Names, Mounts } = one as Readonly<Record<'Id' | 'State' | 'Names' | 'Mounts', unknown>>;
    if (typeof Id !== 'string' || !/^[0-9a-f]{12,64}$/.test(Id)) throw noAnswer(engine, operation, 'a container');
    return {
      id: Id,
      state: State === 'running' || State === 'paused' ? State : 'ended',
      names: textsOf(Names).map((name) => name.replace(/^\//, '')),
      volumes: textsOf(Array.isArray(Mounts) ? Mounts.map((mount?: { readonly Name?: unknown }) => mount?.Name) : []),
    };
  });
}

const textsOf = (values: unknown): readonly string[] =>
  Array.isArray(values) ? values.filter((value): value is string => typeof value === 'string') : [];
