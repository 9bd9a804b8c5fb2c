import { type CallOptions, quoted, type SandboxId } from '@litterbox/core/provider';
import {
  copyError,
  encodePlan,
  endSessionScript,
  LayerSnapshots,
  type PlanEntry,
  runProgram,
  runProgramAsking,
  runScript,
  runScriptOrFail,
  type SandboxDirectories,
} from '@litterbox/linux-sandbox';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { strategyNamed } from './strategies/choose-strategy.ts';
import { complaining } from './complaining.ts';
import { leavingsOf } from './leavings-of.ts';
import type { MachineSurvey } from './machine-survey.ts';
import { groupsPlan } from './removal-plan.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';
import { DATASET_USAGE } from './strategies/zfs-usage.ts';
import { stillPlan, stillScript } from './still-script.ts';

/** Snapshots of the layers of workspace and home, whatever the strategy. */
export function overlaySnapshots(
  directories: SandboxDirectories<SandboxMeta>,
  survey: MachineSurvey,
): LayerSnapshots<SandboxMeta> {
  const { host, layout, provider } = directories;
  return new LayerSnapshots<SandboxMeta>({
    directories,
    layersOf: (meta) => strategyNamed(meta.strategy, provider).layers,
    assertCopyable: async (call) => void (await survey.usableMachine(call)),
    diskUsage: DATASET_USAGE,
    isRoot: async (call) => (await survey.machine(call)).isRoot,
    still: async ({ id }, script, call) => {
      const still = stillScript(layout, await survey.machine(call), id, script);
      const { code, stderr } = await runScript(host, still, call);
      if (code !== 0) throw copyError('snapshot.take', provider, code, stderr);
    },
    stage: async ({ id }, plan, call) => await stageSnapshot(directories, survey, id, plan, call),
    putBack: async ({ id }, plan, call) => await putBack(directories, survey, id, plan, call),
    ended: async ({ id }, script) => {
      const { directory } = directories.filesOf(id);
      // No session starts meanwhile, not by a runtime either that somebody has open.
      const alone = `cd ${quoted(directory)} && exec 5>>start.lock && flock -w 60 5 || exit 1`;
      const end = endSessionScript(directory, leavingsOf(await survey.machine(), id));
      await runScriptOrFail(host, 'snapshot.restore', `${alone}\n( ${end} ) || exit 1\n${script}`);
    },
    restored: (meta, kept) => {
      if (meta.strategy !== kept.strategy)
        throw cannotHonour(
          provider,
          `a snapshot of a sandbox with the strategy ${kept.strategy} in one with the strategy ${meta.strategy}`,
          `Make a sandbox with the strategy ${kept.strategy}.`,
        );
      if (meta.live?.directory !== kept.live?.directory)
        throw cannotHonour(
          provider,
          'a snapshot of a sandbox that stands on the working tree in one that does not, or the other way round',
          'Restore a snapshot that was taken since the sandbox was made or recovered.',
        );
      const {
        firstMark: _firstMark,
        prepared: _prepared,
        newer: _newer,
        artefacts: _artefacts,
        over: _over,
        ...own
      } = meta;
      return {
        ...own,
        base: kept.base,
        ...(kept.prepared && { prepared: kept.prepared }),
        ...(kept.newer !== undefined && { newer: kept.newer }),
        ...(kept.artefacts !== undefined && { artefacts: kept.artefacts }),
        ...(kept.over && { over: kept.over }),
        isCopy: true,
      };
    },
  });
}

/** False for who may not mount, and where there is no session program. */
async function stageSnapshot(
  { host, layout, provider }: SandboxDirectories<SandboxMeta>,
  survey: MachineSurvey,
  id: SandboxId,
  plan: readonly PlanEntry[],
  options?: CallOptions,
): Promise<boolean> {
  const [machine, program] = await Promise.all([survey.machine(options), survey.programFile(options)]);
  if (!machine.isRoot || program === undefined) return false;
  const given = encodePlan([stillPlan(layout, machine, id), ...plan]);
  const { code, stderr } = await complaining(runProgram(host, [program, 'stage'], given, options));
  if (code !== 0) throw copyError('snapshot.take', provider, code, stderr);
  return true;
}

/** The same for going back. Who gives up while it copies ends it; from then on it goes on to its end. */
async function putBack(
  directories: SandboxDirectories<SandboxMeta>,
  survey: MachineSurvey,
  id: SandboxId,
  plan: readonly PlanEntry[],
  { signal }: CallOptions = {},
): Promise<boolean> {
  const { host, provider } = directories;
  const [machine, program] = await Promise.all([survey.machine({ signal }), survey.programFile({ signal })]);
  if (!machine.isRoot || program === undefined) return false;
  const given = encodePlan([['directory', directories.filesOf(id).directory], groupsPlan(machine, id), ...plan]);
  const copying = new AbortController();
  const giveUp = () => copying.abort(signal?.reason);
  signal?.addEventListener('abort', giveUp);
  const answer = async () => {
    signal?.throwIfAborted();
    signal?.removeEventListener('abort', giveUp);
  };
  try {
    const asking = runProgramAsking(host, [program, 'restore'], { given, answer }, { signal: copying.signal });
    const { code, stderr } = await complaining(asking);
    if (code !== 0) throw copyError('snapshot.restore', provider, code, stderr);
    return true;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}
