import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { PersonsRepository, WorkTreeDrift } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** How long the look at the working tree may take, in milliseconds. A call that cannot be told whether the tree is what it was goes no further. */
const LOOK_MS = 60_000;
/** How many names a message holds. */
const TOLD = 5;

/** A sandbox and what it runs in, as far as its working tree goes. */
interface Standing {
  readonly record: Pick<SandboxRecord, 'slug' | 'baseTree'>;
  readonly runtime: Pick<SandboxRuntime, 'live'>;
}

/**
 * How the working tree that a sandbox stands on differs from what it was at create; nothing for sandboxes that stand on frozen trees.
 *
 * @throws LitterboxError `TIMED_OUT` when a minute was not enough to look
 */
export async function driftOf(
  { record, runtime }: Standing,
  repository: Pick<PersonsRepository, 'drift'>,
  options?: CallOptions,
): Promise<WorkTreeDrift | undefined> {
  if (runtime.live === undefined) return undefined;
  const late = AbortSignal.timeout(LOOK_MS);
  try {
    const signal = options?.signal ? AbortSignal.any([options.signal, late]) : late;
    const drift = await repository.drift(record.baseTree, { ...options, signal });
    return drift.total === 0 ? undefined : drift;
  } catch (cause) {
    options?.signal?.throwIfAborted();
    if (!late.aborted) throw cause;
    throw new LitterboxError(
      'TIMED_OUT',
      `Litterbox could not check within ${LOOK_MS / 1000} seconds whether the working tree below ${record.slug} has changed.`,
      { operation: 'live.look', hint: 'Try again, or make a sandbox without lower = "live".' },
      { cause },
    );
  }
}

/** The error of a call whose sandbox stands on a working tree that is another one by now. */
export function liveTreeChanged(
  { slug }: Pick<SandboxRecord, 'slug'>,
  drift: WorkTreeDrift,
  done = '',
): LitterboxError {
  const names = drift.paths.slice(0, TOLD).map((path) => shown(path));
  const more = drift.total > names.length ? ` and ${drift.total - names.length} more` : '';
  return new LitterboxError(
    'LIVE_TREE_CHANGED',
    `The working tree below ${slug} has changed since the sandbox was created: ${names.join(', ')}${more}.${done} You can still show and merge what is recorded.`,
    {
      operation: 'live.look',
      hint: advice`Put the files back, or continue on a frozen tree with what is recorded: ${step('sandbox-recover', { sandbox: slug })}.`,
      facts: { paths: drift.paths, total: drift.total },
    },
  );
}

/** @throws LitterboxError `LIVE_TREE_CHANGED`, `TIMED_OUT` */
export async function assertSteady(
  standing: Standing,
  repository: Pick<PersonsRepository, 'drift'>,
  options?: CallOptions,
): Promise<void> {
  const drift = await driftOf(standing, repository, options);
  if (drift) throw liveTreeChanged(standing.record, drift);
}
