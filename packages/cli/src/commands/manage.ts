import { isLitterboxError, LitterboxError } from '@litterbox/core';
import { askAtTerminal } from '../ask.ts';
import type { Context } from '../context.ts';

export async function milestone(context: Context, name: string, message: string): Promise<void> {
  const { talk, signal } = context;
  const made = await (await context.settled()).milestone(name, message, { signal });
  if (talk.json) return talk.document(made ?? { commit: null });
  if (made)
    talk.result(
      `${made.branch.replace(/^refs\/heads\//, '')} is at ${made.commit.slice(0, 10)} (${made.revisions} revisions)`,
    );
  else talk.notice('Nothing was recorded since the last milestone.');
}

export async function remove(
  context: Context,
  names: readonly string[],
  { force = false }: { readonly force?: boolean },
): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.settled();
  const deleted: string[] = [];
  const failures: unknown[] = [];
  for (const name of names) {
    try {
      await litterbox.delete(name, { force }, { signal }).catch(async (error: unknown) => {
        if (!isLitterboxError(error, 'UNMERGED_WORK') || talk.json) throw error;
        if (!(await askAtTerminal.approve({ question: `${error.message} Delete it all the same?`, details: [] })))
          throw error;
        await litterbox.delete(name, { force: true }, { signal });
      });
      deleted.push(name);
      talk.notice(`Deleted ${name}.`);
    } catch (error) {
      if (names.length > 1 && isLitterboxError(error)) talk.error(error.message, error.details.hint);
      failures.push(error);
    }
  }
  if (talk.json && failures.length === 0) talk.document({ deleted });
  if (failures.length > 0) throw failures[0];
}

export interface RunStateFlags {
  readonly allEnvs?: boolean;
  readonly allRepos?: boolean;
  readonly stop?: boolean;
}

export async function runState(
  context: Context,
  verb: 'pause' | 'resume',
  name: string | undefined,
  { allEnvs, allRepos, stop }: RunStateFlags,
): Promise<void> {
  const { talk, signal } = context;
  const wanted = verb === 'resume' ? 'ready' : stop ? 'stopped' : 'paused';
  if ((name === undefined) === (allEnvs !== true && allRepos !== true)) {
    throw new LitterboxError('ARG_MISSING', `${verb} wants either a name or --all-envs or --all-repos.`, {
      operation: `cli.${verb}`,
      hint: `Such as: litterbox ${verb} NAME.`,
    });
  }
  const litterbox = await context.settled();
  const results =
    name === undefined
      ? await litterbox.setAllRunStates(allRepos ? 'all' : 'repository', wanted, { signal })
      : [await litterbox.setRunState(name, wanted, { signal })];
  if (talk.json)
    return talk.document(
      results.map(({ record, isChanged }) => ({ name: record.slug, state: record.state, isChanged })),
    );
  if (results.length === 0) talk.notice('No sandboxes.');
  for (const { record, isChanged } of results)
    talk.notice(`${record.slug} is ${isChanged ? '' : 'already '}${record.state}.`);
}

export async function restore(context: Context, name: string, revision: string): Promise<void> {
  const { talk, signal } = context;
  const { revision: made } = await (await context.settled()).restore(name, revision, {
    signal,
    onProgress: talk.progress,
  });
  if (talk.json) return talk.document({ revision: made ?? null });
  talk.notice(
    made
      ? `${name} has the files of revision ${revision} again, as revision ${made.number}.`
      : `${name} has the files of that revision already; it was built anew.`,
  );
}

export async function recover(context: Context, name: string): Promise<void> {
  const { talk, signal } = context;
  const record = await (await context.settled()).recover(name, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document({ name: record.slug, state: record.state });
  talk.notice(`${record.slug} is built anew from its last revision.`);
}

export async function worktree(context: Context, name: string): Promise<void> {
  const { talk, signal } = context;
  const made = await (await context.settled()).worktree(name, { signal });
  if (talk.json) return talk.document(made);
  talk.result(made.directory);
}
