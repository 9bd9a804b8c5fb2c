import type { Duplex } from 'node:stream';
import type { CallOptions, SandboxId } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { isBeingRemoved } from '../engine/engine-answers.ts';
import { EngineHost } from '../far-files/engine-host.ts';
import { listContainers } from './find-container.ts';
import { inspectContainer } from '../engine/inspect-container.ts';
import { LABELS } from '../engine/labels.ts';
import { sidecarNames } from './sidecar-options.ts';

/** What engines add to an environment. */
const ADDED = ['PATH', 'HOSTNAME', 'HOME', 'container'];

/**
 * A container beside that of a sandbox, in its network and in nothing else of it: from there its ports are reached where the network cannot
 * be entered from the host. It ends with this program, also when that is killed: the engine closes its stdin then.
 */
export class Sidecar implements AsyncDisposable {
  /** Programs in it. */
  readonly host: EngineHost;
  readonly #engine: Engine;
  readonly #id: string;
  readonly #stdin: Duplex;
  readonly #over = new AbortController();

  private constructor(engine: Engine, id: string, stdin: Duplex, names: readonly string[]) {
    this.#engine = engine;
    this.#id = id;
    this.#stdin = stdin;
    this.host = new EngineHost({ engine, container: async () => ({ id, names }) });
    stdin.on('error', () => {}); // 'close' comes after it
    for (const event of ['end', 'close']) stdin.once(event, () => this.#over.abort());
    stdin.resume(); // without a reader its end is not heard
  }

  /** @throws LitterboxError as the engine says. */
  static async start(engine: Engine, options: Docker.ContainerCreateOptions, call?: CallOptions): Promise<Sidecar> {
    const work = { ...call, limitMs: WORK_MS };
    const { id } = await engine.ask(
      'sidecar.create',
      async (docker, signal) => docker.createContainer({ ...options, abortSignal: signal }),
      work,
    );
    let stdin: Duplex | undefined;
    try {
      // Before it starts: a container whose stdin nobody has attached to would stay for good.
      stdin = (await engine.ask(
        'sidecar.attach',
        async (docker) =>
          docker.getContainer(id).attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true }),
        call,
      )) as Duplex;
      await engine.ask(
        'sidecar.start',
        async (docker, signal) => docker.getContainer(id).start({ abortSignal: signal }),
        work,
      );
      const found = await inspectContainer(engine, 'sidecar.start', id, call);
      return new Sidecar(engine, id, stdin, [
        ...(found?.Config.Env ?? []).map((entry) => entry.split('=')[0] ?? ''),
        ...ADDED,
      ]);
    } catch (error) {
      stdin?.destroy();
      await removeContainer(engine, id).catch(() => {}); // why it did not start is what has to be told
      throw error;
    }
  }

  /** Aborted when it has ended, by whomever. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
    this.#stdin.destroy();
    await removeContainer(this.#engine, this.#id);
  }
}

/**
 * Removes the sidecars of a sandbox, whichever program has them: a program that was killed leaves them on engines that do not close their
 * stdin. The label alone may come from an image.
 */
export async function removeSidecars(engine: Engine, id: SandboxId, options?: CallOptions): Promise<void> {
  const listed = await listContainers(engine, 'sidecar.remove', `${LABELS.sidecar}=${id}`, options);
  const found = listed.filter(({ names }) => names.some((name) => name.startsWith(sidecarNames(id))));
  await Promise.all(found.map((one) => removeContainer(engine, one.id, options)));
}

async function removeContainer(engine: Engine, id: string, options?: CallOptions): Promise<void> {
  await engine.askIfThere(
    'sidecar.remove',
    async (docker, signal) => {
      const container = docker.getContainer(id);
      await container.remove({ force: true, v: true, abortSignal: signal }).catch(async (error: unknown) => {
        if (!isBeingRemoved(error)) throw error;
        await container.wait({ condition: 'removed', abortSignal: signal });
      });
    },
    { ...options, limitMs: WORK_MS },
  );
}
