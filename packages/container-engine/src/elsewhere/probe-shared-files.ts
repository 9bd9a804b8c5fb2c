import type { Readable } from 'node:stream';
import { type CallOptions, type Host, type LitterboxError } from '@litterbox/core/provider';
import { UNFINISHED } from '@litterbox/linux-sandbox';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { isSourceUnseen } from '../engine/engine-answers.ts';
import { labelsOf } from '../engine/labels.ts';

const TARGET = '/litterbox-probe';
const MAX_TOKEN_BYTES = 2 ** 20;
/** The mode bits of a directory in Go's words (os.ModeDir). @see https://pkg.go.dev/io/fs#FileMode */
const GO_DIRECTORY = 2 ** 31;

/**
 * Whether an engine mounts what the host has at a path: a container that is never started is given a directory with a file that nobody else has, and
 * the engine is asked what it sees there. It leaves nothing behind.
 *
 * @param directory on the host, which is there
 * @param imageId an image that the engine has
 */
export async function seesFiles(
  engine: Engine,
  host: Host,
  directory: string,
  imageId: string,
  options?: CallOptions,
): Promise<boolean> {
  // A directory: Podman cannot tell what a file that it mounts holds.
  const probe = `${directory}/${UNFINISHED}${crypto.randomUUID()}`;
  const name = `litterbox-probe-${crypto.randomUUID()}`;
  // No other file of that name has this size by chance, or any at all, and an engine that does not see it does not guess it.
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  const bytes = new Uint8Array(1 + (random % MAX_TOKEN_BYTES));
  await host.files.makeDirectory(probe, { ...options, mode: 0o700 });
  try {
    await host.files.write(`${probe}/token`, bytes, options);
    await engine.ask(
      'engine.probe',
      async (docker, signal) =>
        docker.createContainer({
          name,
          Image: imageId,
          Cmd: ['/bin/sh'],
          NetworkDisabled: true,
          Labels: labelsOf({ probe: name }),
          HostConfig: {
            NetworkMode: 'none',
            Mounts: [{ Type: 'bind', Source: probe, Target: TARGET, ReadOnly: true }],
          },
          abortSignal: signal,
        }),
      { ...options, limitMs: WORK_MS },
    );
    const stat = await engine.askIfThere(
      'engine.probe',
      async (docker, signal) => {
        const answer = await docker.getContainer(name).infoArchive({ path: `${TARGET}/token`, abortSignal: signal });
        // It has no body, and holds the connection, and with it this program, until that is read.
        (answer as Readable).resume();
        return statOf(answer as StatAnswer);
      },
      options,
    );
    return stat !== undefined && stat.mode < GO_DIRECTORY && stat.size === bytes.length;
  } catch (error) {
    options?.signal?.throwIfAborted();
    if (isSourceUnseen((error as LitterboxError).cause)) return false;
    throw error;
  } finally {
    await engine.askIfThere('engine.probe', async (docker) =>
      docker.getContainer(name).remove({ force: true, v: true }),
    );
    await host.files.remove(probe);
  }
}

interface StatAnswer {
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** @see https://docs.docker.com/reference/api/engine/ ContainerArchiveInfo */
function statOf({ headers }: StatAnswer): { readonly size: number; readonly mode: number } | undefined {
  const text = headers?.['x-docker-container-path-stat'];
  if (!text) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const stat = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<'size' | 'mode', unknown>> | null;
    if (typeof stat?.size === 'number' && typeof stat.mode === 'number') return { size: stat.size, mode: stat.mode };
  } catch {
    // It is none.
  }
  return undefined;
}
