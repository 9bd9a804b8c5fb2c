import type { ByteString } from '../git/byte-text.ts';
import { parentOf } from '../ignore/ignore-matcher.ts';
import { addEdit } from '../objects/edit-tree.ts';
import { divideFiles, type Named, type Placed, wantedOf } from './divide-files.ts';
import { isRule } from './fetch-contents.ts';
import { isRegular, type Recording } from './recording.ts';

/** Rounds of fetching rules that turned out to count; then all that are left are fetched at once. */
const MAX_RULE_ROUNDS = 6;

/** Fetches the changed ignore rules that count, before any other file: which of those count depends on them. */
export async function settleRules(recording: Recording): Promise<void> {
  const { scanned, tip, warnings, ruleFiles } = recording;
  const changed: Named[] = [];
  for (const named of scanned.candidates) if (isRule(named[0])) changed.push(named);
  const fetch = async (files: readonly Placed[]) => {
    for (const [path, content] of await recording.fetch(wantedOf(files))) ruleFiles.set(path, content);
  };
  const { tracked, untracked } = await divideFiles(changed, tip, warnings);
  await fetch(tracked);
  let pending = untracked;
  for (let round = 0; pending.length > 0; round++) {
    const directories = pending.map(({ path }) => ({ path: parentOf(path), isDirectory: true }));
    const asked = directories.filter(({ path }) => path !== '');
    const pruned: ReadonlySet<ByteString> = round < MAX_RULE_ROUNDS ? await recording.ignored(asked) : new Set();
    const counting = pending.filter(({ path }) => !pruned.has(parentOf(path)));
    if (counting.length === 0) break; // the others lie below ignored directories
    await fetch(counting);
    pending = pending.filter(({ path }) => pruned.has(parentOf(path)));
  }
}

/** Whether what git ignores may be other than before: a rule file came, went or differs. */
export async function haveRulesChanged({ scanned, ruleFiles, tip, untrackedRules }: Recording): Promise<boolean> {
  const { deleted, deletedRules } = scanned;
  if (deletedRules.size > 0 || [...deleted.keys()].some(isRule)) return true;
  for (const [path, { oid }] of ruleFiles) {
    const old = (await tip.entry(path)) ?? (await untrackedRules.entry(path));
    if (old?.oid !== oid) return true;
  }
  return false;
}

/** Keeps rules that no revision has in a tree of their own. @param recorded those that the revision has */
export function keepUntrackedRules({ scanned, ruleFiles }: Recording, recorded: ReadonlySet<ByteString>): void {
  for (const [path, content] of ruleFiles) {
    if (recorded.has(path)) addEdit(scanned.ruleEdits, path, { type: 'delete' });
    else if (isRegular(content)) addEdit(scanned.ruleEdits, path, { type: 'entry', mode: '100644', oid: content.oid });
  }
}
