import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError, quoted, type SandboxId, advice, step } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { isInOtherState } from '../engine/engine-answers.ts';
import { findContainer, type FoundContainer } from './find-container.ts';
import { STALE_STATE_MS, LOOK_AGAIN_MS } from '../engine/stale-state.ts';
import { sandboxLayoutOf } from '../engine/layout.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';

/** How long a container that was to be paused may be told to run: whoever paused it may as well have died before it did. */
const LATE_PAUSE_MS = 1_000;

/** How containers are frozen and thawed, whoever else does so at the same time. An engine may tell of it late. */
export class ContainerPauses {
  readonly #engine: Engine;
  readonly #directories: ContainerDirectories;
  readonly #facts: (options?: CallOptions) => Promise<EngineFacts>;

  constructor(
    engine: Engine,
    directories: ContainerDirectories,
    facts: (options?: CallOptions) => Promise<EngineFacts>,
  ) {
    this.#engine = engine;
    this.#directories = directories;
    this.#facts = facts;
  }

  /** @throws LitterboxError `UNSUPPORTED` where the engine cannot freeze what runs: before anything is marked as paused. */
  async assertPausable(options?: CallOptions): Promise<void> {
    const { canPause } = await this.#facts(options);
    if (canPause) return;
    throw new LitterboxError('UNSUPPORTED', `${this.#engine.title} cannot pause containers of this user here.`, {
      operation: 'runtime.pause',
      provider: this.#engine.provider,
      hint: advice`Stop it instead: ${step('sandbox-stop')}. Pausing takes control groups version 2 with delegation, or the rootful engine.`,
    });
  }

  /**
   * Freezes what runs in the container; nothing where it does not run.
   *
   * @param isMarked whether somebody paused it before: then it is frozen where the engine says so
   */
  async pause(id: SandboxId, isMarked: boolean, options?: CallOptions): Promise<void> {
    for (const limit = performance.now() + STALE_STATE_MS; ; ) {
      const found = await findContainer(this.#engine, id, options);
      if (!found || found.state === 'ended' || (found.state === 'paused' && isMarked)) return;
      const pause = (docker: Docker) => docker.getContainer(found.id).pause();
      if (found.state === 'running' && (await this.turn('runtime.pause', pause, options))) return;
      if (isMarked || performance.now() > limit) return; // by another hand than ours
      await this.settled(id, found.state, STALE_STATE_MS, options);
    }
  }

  /**
   * Thaws what runs in the container; nothing where it does not run.
   *
   * @param isMarked whether it was paused: then an engine that says that it runs may not know yet
   */
  async unpause(id: SandboxId, isMarked: boolean, options?: CallOptions): Promise<void> {
    const found = await findContainer(this.#engine, id, options);
    const state =
      found?.state === 'running' && isMarked ? await this.settled(id, 'running', LATE_PAUSE_MS, options) : found?.state;
    if (!found || state !== 'paused') return;
    const unpause = (docker: Docker) => docker.getContainer(found.id).unpause();
    if (await this.turn('runtime.resume', unpause, options)) return;
    await this.settled(id, 'paused', STALE_STATE_MS, options); // it ran already
  }

  /** Pauses what runs, for one who copies and holds the lock. @returns whether anything ran */
  async freeze(id: SandboxId, options?: CallOptions): Promise<boolean> {
    const found = await findContainer(this.#engine, id, options);
    if (!found || found.state === 'ended') return false;
    const { canPause } = await this.#facts(options);
    if (!canPause)
      throw new LitterboxError(
        'UNSUPPORTED',
        `The sandbox runs, and ${this.#engine.title} cannot pause containers of this user while they are copied.`,
        {
          operation: 'provider.create',
          provider: this.#engine.provider,
          hint: advice`Stop it first: ${step('sandbox-stop')}.`,
        },
      );
    await this.pause(id, false, options);
    return true;
  }

  async isFrozen(id: SandboxId, options?: CallOptions): Promise<boolean> {
    return (await findContainer(this.#engine, id, options))?.state === 'paused';
  }

  /**
   * Waits until nobody copies the sandbox. A container that was paused by one who was killed over it goes on.
   *
   * @returns whether somebody was at it
   */
  async undisturbed(id: SandboxId, options?: CallOptions): Promise<boolean> {
    const { host, layout } = this.#directories;
    const { directory, copyingMark } = sandboxLayoutOf(layout, id);
    if (!(await host.files.stat(copyingMark, options))) return false;
    await runScript(host, `cd ${quoted(directory)} && exec 5>>${quoted(copyingMark)} && flock -w 600 5`, options);
    const isMarked = await this.#directories.marksOf(id).isSet('paused', options);
    if (!isMarked && (await this.isFrozen(id, options))) await this.unpause(id, true, options);
    await host.files.remove(copyingMark, options);
    return true;
  }

  /** The state, as soon as it is another one, or the same when it stays that long. */
  async settled(
    id: SandboxId,
    state: FoundContainer['state'],
    limitMs: number,
    options?: CallOptions,
  ): Promise<FoundContainer['state']> {
    const limit = performance.now() + limitMs;
    for (;;) {
      const now = (await findContainer(this.#engine, id, options))?.state ?? 'ended';
      if (now !== state || performance.now() > limit) return now;
      await delay(LOOK_AGAIN_MS, undefined, { ...(options?.signal && { signal: options.signal }) });
    }
  }

  /** Pauses or unpauses; false when the container is told not to be in the state for it. */
  async turn(operation: string, change: (docker: Docker) => Promise<unknown>, options?: CallOptions): Promise<boolean> {
    return await this.#engine.ask(
      operation,
      async (docker) => {
        try {
          await change(docker);
          return true;
        } catch (error) {
          if (!isInOtherState(error)) throw error;
          return false;
        }
      },
      { ...options, limitMs: WORK_MS },
    );
  }
}
