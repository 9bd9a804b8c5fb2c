import {
  type FilePart,
  groupedRisks,
  planIntegration,
  type SettledFile,
  type ShownPlan,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Headings and entries of risks together. */
const MAX_RISK_LINES = 400;
const MAX_FILES = 5_000;
const MAX_MESSAGES = 200;
const names = (paths: readonly string[] = []) => paths.slice(0, MAX_FILES).map((path) => visibleName(path));

/** A plan, as the page asks for it; the operation checks it. */
interface AskedPlan {
  readonly sandbox: string;
  readonly integration: 'apply' | 'merge';
  readonly paths: readonly string[];
  readonly parts: readonly FilePart[];
  readonly settled: readonly SettledFile[];
  readonly commit: boolean | undefined;
}

export async function readPlan(litterbox: Performer, asked: AskedPlan, signal: AbortSignal) {
  const { sandbox, integration, paths, parts, settled, commit } = asked;
  const some = {
    ...(paths.length > 0 && { paths }),
    ...(parts.length > 0 && { parts }),
    ...(settled.length > 0 && { settled }),
    ...(commit !== undefined && { commit }),
  };
  return shownPlan(await litterbox.perform(planIntegration, { sandbox, integration, ...some }, { signal }));
}

/** The effect of an apply or merge, as the page shows it before somebody decides. */
function shownPlan(plan: ShownPlan) {
  const { groups, files, unlisted } = groupedRisks(plan.risky, MAX_RISK_LINES);
  const { unmergedBase, notFollowed, messages } = plan;
  return {
    integration: plan.integration,
    tip: plan.tip,
    head: plan.head,
    branch: plan.headRef === undefined ? undefined : visibleName(plan.headRef.replace(/^refs\/heads\//, '')),
    upToDate: plan.upToDate,
    files: plan.changes.length,
    conflicts: plan.conflicts.slice(0, MAX_FILES).map((path) => ({ path, name: visibleName(path) })),
    dirty: names(plan.dirtyOverlap),
    already: names(plan.already),
    passing: names(plan.passing),
    unmilestoned: plan.unmilestoned,
    halfRenames: (plan.halfRenames ?? []).slice(0, 100).map(({ from, to, taken }) => ({
      from: visibleName(from),
      to: visibleName(to),
      taken,
    })),
    messages: messages.slice(0, MAX_MESSAGES).map(visible),
    moreMessages: Math.max(0, messages.length - MAX_MESSAGES),
    unmergedBase: unmergedBase?.commits,
    hooks: (notFollowed?.hooks ?? []).map((hook) => visibleName(hook)),
    unsettled: plan.unsettled === undefined ? undefined : visible(plan.unsettled),
    risks: {
      files,
      unlisted,
      groups: groups.map(({ reason, files: count, entries }) => ({
        reason: visible(reason),
        files: count,
        entries: entries.map(({ path, files: inside, also }) => ({
          path,
          name: visibleName(path),
          files: inside,
          also: also.map(visible),
        })),
      })),
    },
    proof: {
      ...plan.proof,
      tests: plan.proof.tests.map((test) => ({
        ...test,
        command: visible(test.command),
        actor: visibleName(test.actor),
      })),
    },
  };
}
