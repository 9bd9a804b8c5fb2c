import type { CallOptions, NamespaceLoopback, SandboxId } from '@litterbox/core/provider';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { EngineFlavour } from '../engine/engine-flavour.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';
import { removeSidecars, Sidecar } from './sidecar.ts';
import { SidecarLoopback } from './sidecar-loopback.ts';
import { sidecarOptions } from './sidecar-options.ts';

export interface SidecarsInput {
  readonly engine: Engine;
  readonly directories: ContainerDirectories;
  readonly flavour: EngineFlavour;
  readonly facts: (options?: CallOptions) => Promise<EngineFacts>;
}

/** The sidecars of sandboxes, each for one program that reaches the ports of one. */
export class Sidecars {
  readonly #input: SidecarsInput;

  constructor(input: SidecarsInput) {
    this.#input = input;
  }

  /**
   * The loopback of a sandbox's container, for those who cannot enter its network: an ordinary user of an engine of root's, and everybody
   * where the engine is on another machine.
   *
   * @param container the engine's id of the container, which runs
   */
  loopback(meta: SandboxMeta, container: string): NamespaceLoopback {
    const { engine, directories, flavour, facts: look } = this.#input;
    const start = async () => {
      const facts = await look();
      const seccomp = await flavour.seccomp(directories.host, directories.layout);
      const { id, imageId, user } = meta;
      const usersMode = flavour.usersMode(facts, user);
      const masks = flavour.masks && { masks: flavour.masks };
      return await Sidecar.start(
        engine,
        sidecarOptions({ id, container, imageId, facts, seccomp, usersMode, ...masks }),
      );
    };
    return new SidecarLoopback({ engine, start });
  }

  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    await removeSidecars(this.#input.engine, id, options);
  }
}
