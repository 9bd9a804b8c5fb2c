import { join } from 'node:path';
import type { Forecast, ForecastConflict, ObjectId, SandboxId } from '@litterbox/core/provider';
import type { RefFiles } from '../objects/ref-files.ts';
import { KeptAnswers } from '../store/kept-answers.ts';
import { sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { nameAttributes } from '../person/attribute-files.ts';
import { hasNoMergeSettings } from '../person/has-no-merge-settings.ts';
import { readPlainBranch } from '../person/plain-head.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** The parts of a store that are read without git. */
type StoreFiles = Pick<Store, 'refs' | 'directory'>;

/**
 * Paths that conflict, by {@link triedName}; all go with HEAD.
 *
 * @param rules the person's: a name of their attributes, then settings of merging
 */
export const triedMerges = ({ directory }: StoreFiles, head: ObjectId, rules: readonly string[]) =>
  new KeptAnswers<readonly string[]>(join(directory, 'forecast.json'), JSON.stringify([head, ...rules]));

/** The name of a merge of a sandbox, or of two. One that goes on, or of which something was taken, has another one. */
export const triedName = (refs: RefFiles, ids: readonly SandboxId[]): string =>
  ids
    .map((id) => {
      const { tip, taken } = sandboxRefs(id);
      return `${id} ${refs.read(tip) ?? ''} ${refs.read(taken) ?? ''}`;
    })
    .join(', ');

/** Those whose work may conflict. Asking git about the others is most of what a list of them would do. */
export const withRevisions = (refs: RefFiles, ids: readonly SandboxId[]): readonly SandboxId[] =>
  ids.filter((id) => {
    const { base, tip, meta } = sandboxRefs(id);
    return refs.read(meta) !== undefined && refs.read(tip) !== refs.read(base);
  });

/**
 * The forecast by files alone, where all its merges were tried before; undefined where one was not, or only git can say what decides.
 *
 * @param ids of those {@link withRevisions}
 * @param environment the person's, as git gets it
 */
export function forecastKnown(
  store: StoreFiles,
  user: Pick<UserRepository, 'root' | 'gitDirectory' | 'commonDirectory' | 'format'>,
  ids: readonly SandboxId[],
  environment: Readonly<Record<string, string | undefined>>,
): Forecast | undefined {
  const head = readPlainBranch(user)?.commit;
  if (head === undefined || !hasNoMergeSettings(user, environment)) return undefined;
  const tried = triedMerges(store, head, [nameAttributes(user, environment)]);
  const conflicts: ForecastConflict[] = [];
  const pairs = ids.flatMap((one, index) => ids.slice(index + 1).map((other) => [one, other] as const));
  for (const merge of [...ids.map((id) => [id] as const), ...pairs]) {
    const paths = tried.get(triedName(store.refs, merge));
    if (!paths) return undefined;
    const [sandbox, other] = merge;
    if (paths.length > 0) conflicts.push({ sandbox, ...(other !== undefined && { other }), paths });
  }
  return { conflicts, untried: 0 };
}
