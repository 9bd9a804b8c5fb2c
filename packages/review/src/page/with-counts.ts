import type { PatchFile, Summary, Works } from './answers.ts';
import { countsOf } from './file-list.ts';

/** The list with the counts of changes that were read: before, it takes a renamed file for two. */
export function withCounts(works: Works, name: string, files: readonly PatchFile[]): Works {
  if (files.some(({ leftOut }) => leftOut > 0)) return works; // the list knows of more
  let [addedLines, removedLines] = [0, 0];
  for (const [plus, minus] of files.map(countsOf)) {
    addedLines += plus;
    removedLines += minus;
  }
  const counted = (one: Summary): Summary =>
    one.name === name && one.work
      ? { ...one, work: { ...one.work, files: files.length, addedLines, removedLines } }
      : one;
  return { ...works, sandboxes: works.sandboxes.map(counted) };
}
