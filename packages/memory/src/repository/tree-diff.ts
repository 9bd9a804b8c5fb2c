import { type FileChange } from '@litterbox/core/provider';
import { differences, type FileTree, type TreeFile } from './file-tree.ts';
import { isBinary, lineChanges } from './line-changes.ts';

/** What differs between two trees, file by file. */
export function changesBetween(before: FileTree, after: FileTree): readonly FileChange[] {
  return differences(before, after).map((path): FileChange => {
    const [old, now] = [before.get(path), after.get(path)];
    const status = !old ? 'added' : !now ? 'deleted' : old.type === now.type ? 'modified' : 'type-changed';
    const executable = now?.isExecutable ?? false;
    const wasExecutable = old?.isExecutable ?? false;
    const mode = { executable, ...(status === 'modified' && wasExecutable !== executable && { wasExecutable }) };
    if (isBinary(contentOf(old)) || isBinary(contentOf(now))) return { path, status, ...mode, binary: true };
    const lines = lineChanges(contentOf(old), contentOf(now));
    return {
      path,
      status,
      ...mode,
      binary: false,
      addedLines: lines.filter(({ kind }) => kind === '+').length,
      removedLines: lines.filter(({ kind }) => kind === '-').length,
    };
  });
}

/** The unified form of one file's difference, with everything around it. */
export function unifiedDiff(path: string, before: FileTree, after: FileTree): string {
  const [old, now] = [before.get(path), after.get(path)];
  const head = `diff --git a/${path} b/${path}\n`;
  const names = `--- ${old ? `a/${path}` : '/dev/null'}\n+++ ${now ? `b/${path}` : '/dev/null'}\n`;
  if (isBinary(contentOf(old)) || isBinary(contentOf(now))) return `${head}Binary files differ\n`;
  const lines = lineChanges(contentOf(old), contentOf(now));
  const [removed, added] = ['-', '+'].map((side) => lines.filter(({ kind }) => kind === ' ' || kind === side).length);
  const hunk = `@@ -${old ? 1 : 0},${removed} +${now ? 1 : 0},${added} @@\n`;
  return head + names + hunk + lines.map(({ kind, text }) => `${kind}${text}\n`).join('');
}

const contentOf = (file: TreeFile | undefined) => file?.content ?? new Uint8Array();
