import { type CallOptions, LitterboxError } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import { containerName } from './container-options.ts';
import type { ContainerPauses } from './container-pauses.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import type { FoundContainer } from './find-container.ts';
import { inspectContainer } from '../engine/inspect-container.ts';
import { LABELS } from '../engine/labels.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** How the containers of prepared sandboxes are given away. */
export class ContainerClaims {
  readonly #engine: Engine;
  readonly #pauses: ContainerPauses;

  constructor(engine: Engine, pauses: ContainerPauses) {
    this.#engine = engine;
    this.#pauses = pauses;
  }

  /** The container of a prepared sandbox. @throws LitterboxError `UNAVAILABLE` when it does not run: frozen or not. */
  async waiting(meta: SandboxMeta, options?: CallOptions): Promise<FoundContainer> {
    const found = await inspectContainer(this.#engine, 'provider.claim', containerName(meta), options);
    const labels: Readonly<Record<string, string>> | null | undefined = found?.Config.Labels;
    const isOurs = labels?.[LABELS.id] === meta.id;
    if (found && isOurs && found.State.Running)
      return { id: found.Id, state: found.State.Paused ? 'paused' : 'running' };
    throw new LitterboxError('UNAVAILABLE', 'The container of the prepared sandbox does not run any more.', {
      operation: 'provider.claim',
      provider: this.#engine.provider,
      hint: 'Create a sandbox instead.',
    });
  }

  /** Gives the container the name of the sandbox that it is from now on, and lets it run. */
  async giveAway({ id, state }: FoundContainer, meta: SandboxMeta, options?: CallOptions): Promise<void> {
    const work = { ...options, limitMs: WORK_MS };
    const rename = async (docker: Docker, signal: AbortSignal) =>
      docker.getContainer(id).rename({ name: containerName(meta), abortSignal: signal });
    // The name first: an engine may give no name to what is just changing its state, or keep the change waiting.
    await this.#engine.ask('provider.claim', rename, work);
    const unpause = (docker: Docker) => docker.getContainer(id).unpause();
    if (state === 'paused') await this.#pauses.turn('provider.claim', unpause, options);
  }
}
