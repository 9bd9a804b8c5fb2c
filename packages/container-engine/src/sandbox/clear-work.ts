import { type CallOptions, decodeRaw, LitterboxError, quoted } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';
import type { ContainerParts } from './container-parts.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { answerOf } from '../engine/engine-error.ts';
import { labelsOf } from '../engine/labels.ts';

/** In the directory of a sandbox that is being removed: the engine's id of its image, for who finishes that. */
export const REMOVED_IMAGE = 'removed-image';
/** Names, in that directory, of what its overlays work in. */
const WORK = ['work', 'home-work'] as const;
/** Where the container that clears one of them has it. */
const INSIDE = '/run/litterbox/work';
/** What an image's own environment could give orders by, of the loader and the program. */
const HARMLESS = ['PATH=/usr/bin:/bin', 'LD_PRELOAD=', 'LD_AUDIT=', 'LD_LIBRARY_PATH=', 'GCONV_PATH=', 'LOCPATH='];
/** No id of an image is longer. */
const MAX_ID_BYTES = 128;
const MEMORY_BYTES = 64 * 2 ** 20;

/**
 * Takes away what the kernel keeps in the directories that an overlay works in, for an ordinary user of root's engine. The kernel leaves
 * the file there that stands for everything that was deleted, in a directory of root's that this user may neither read nor empty, and
 * nobody could remove the sandbox. The image of the sandbox has the `rm`.
 *
 * To be called when the sandbox's container is gone.
 *
 * @param directory absolute path of the sandbox's directory
 * @throws LitterboxError `PERMISSION_DENIED` where the engine has no such image any more
 */
export async function clearWork(parts: ContainerParts, directory: string, options?: CallOptions): Promise<void> {
  const { engine, directories } = parts;
  const { host } = directories;
  // An empty one goes with the directory above, which is this user's.
  const script = `cd ${quoted(directory)} 2>/dev/null || exit 0
for name in ${WORK.join(' ')}; do [ ! -d "$name/work" ] || rmdir "$name/work" 2>/dev/null || echo "$name"; done`;
  const { stdout } = await runScript(host, script, options);
  const left = WORK.filter((name) => stdout.split('\n').includes(name));
  if (left.length === 0) return;
  const noted = await host.files.read(`${directory}/${REMOVED_IMAGE}`, { ...options, maxBytes: MAX_ID_BYTES });
  for (const name of left)
    await clearAsRoot(engine, decodeRaw(noted ?? new Uint8Array()), `${directory}/${name}`, options);
}

/** Empties a directory by a container that has nothing else, whose root may pass what belongs to others and has no further right. */
async function clearAsRoot(engine: Engine, image: string, path: string, options?: CallOptions): Promise<void> {
  const work = { ...options, limitMs: WORK_MS };
  const container = await engine
    .ask(
      'provider.remove',
      async (docker, signal) =>
        docker.createContainer({
          Image: image,
          User: '0:0',
          WorkingDir: '/',
          Env: HARMLESS,
          Entrypoint: ['/bin/rm', '-rf', `${INSIDE}/work`],
          Cmd: [],
          Healthcheck: { Test: ['NONE'] },
          Labels: labelsOf({ clears: path }),
          NetworkDisabled: true,
          HostConfig: {
            NetworkMode: 'none',
            CapDrop: ['ALL'],
            CapAdd: ['DAC_OVERRIDE'],
            SecurityOpt: ['no-new-privileges'],
            ReadonlyRootfs: true,
            Mounts: [{ Type: 'bind', Source: path, Target: INSIDE, ReadOnly: false }],
            Memory: MEMORY_BYTES,
            PidsLimit: 16,
            RestartPolicy: { Name: 'no' },
            LogConfig: { Type: 'none', Config: {} },
          },
          abortSignal: signal,
        }),
      work,
    )
    .catch((error: unknown) => {
      throw answerOf((error as LitterboxError).cause).statusCode === 404 ? cannotClear(engine, path, error) : error;
    });
  try {
    await engine.ask('provider.remove', async (_docker, signal) => container.start({ abortSignal: signal }), work);
    await engine.ask('provider.remove', async (_docker, signal) => container.wait({ abortSignal: signal }), work);
  } finally {
    await engine.askIfThere('provider.remove', async () => container.remove({ force: true, v: true }), work);
  }
}

function cannotClear({ provider, title }: Engine, path: string, cause: unknown): LitterboxError {
  return new LitterboxError(
    'PERMISSION_DENIED',
    `${path} holds files of root, and ${title} has no image any more that could remove them.`,
    {
      operation: 'provider.remove',
      provider,
      hint: `Remove it by hand, then delete the sandbox again: sudo rm -rf ${path}/work`,
    },
    { cause },
  );
}
