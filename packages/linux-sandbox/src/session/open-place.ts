import { type CallOptions, quoted, advice, step } from '@litterbox/core/provider';
import { baseEnvironment } from '@litterbox/sandbox-kit';
import type { SandboxDirectories } from '../directory/sandbox-directories.ts';
import type { SessionLeavings } from './end-session.ts';
import type { Isolation } from './isolation.ts';
import { launchPlace } from './launch-place.ts';
import { placeFilesOf } from './place-files.ts';
import type { PlaceMeta } from './place-meta.ts';
import { PlaceRuntime } from './place-runtime.ts';

export interface OpenPlaceInput {
  readonly directories: SandboxDirectories<PlaceMeta>;
  readonly isolation: Isolation;
  /** How places are made, for people. */
  mechanism(options?: CallOptions): Promise<string>;
}

/** How what a session of the sandbox in that directory left is ended; for a shell that is in there. */
export function leavingsOf(isolation: Isolation, place: Parameters<Isolation['clean']>[0]): SessionLeavings {
  return { thaw: isolation.freeze(place, false), empty: isolation.clean(place) };
}

/** The runtime of a sandbox of `placeProvider`. Does nothing until it is asked. */
export function openPlace({ directories, isolation, mechanism }: OpenPlaceInput, meta: PlaceMeta): PlaceRuntime {
  const { host, layout, provider } = directories;
  const { id, workdir, allowDegraded, firstMark } = meta;
  const { directory } = directories.filesOf(id);
  const files = placeFilesOf(directory);
  const place = { id, directory };
  const environment = { ...baseEnvironment(meta.slug, '/usr/local/bin:/usr/bin:/bin'), ...meta.environment };
  return new PlaceRuntime({
    provider,
    host,
    id,
    files,
    workdir,
    environment,
    allowDegraded,
    // An ordinary user's networks cannot be entered this way.
    isRoot: true,
    hasScannerPlace: false,
    scanned: { changes: workdir, workspace: workdir },
    ...(firstMark !== undefined && { firstMark }),
    freeze: (isFrozen) => `cd ${quoted(directory)} || exit 0\n${isolation.freeze(place, isFrozen)}`,
    leavings: leavingsOf(isolation, place),
    freezeHint: advice`Stop it instead: ${step('sandbox-stop')}.`,
    launch: async (call) =>
      await launchPlace(
        { provider, host, root: layout.root, files, meta, isolation, environment, mechanism: await mechanism(call) },
        call,
      ),
  });
}
