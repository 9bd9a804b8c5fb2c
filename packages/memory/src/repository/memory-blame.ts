import { type BlamedLines, LitterboxError, MAX_BLAMED_BYTES, type ObjectId } from '@litterbox/core/provider';
import type { FileTree } from './file-tree.ts';
import { isBinary, lineChanges } from './line-changes.ts';

/** A state of a sandbox, from its base on. */
export interface BlamedState {
  readonly revision: number;
  readonly commit: ObjectId;
  readonly tree: FileTree;
}

/** The lines of a file in the last state, with the first state that has them. */
export function memoryBlame(states: readonly BlamedState[], path: string): readonly BlamedLines[] {
  const file = states.at(-1)?.tree.get(path);
  const refuse = (code: 'NOT_FOUND' | 'NOT_A_REGULAR_FILE' | 'FILE_TOO_LARGE') =>
    new LitterboxError(code, `No lines of ${JSON.stringify(path)}.`, { operation: 'repository.blame' });
  const isAbove = [...(states.at(-1)?.tree.keys() ?? [])].some((one) => one.startsWith(`${path}/`));
  if (!file) throw refuse(isAbove ? 'NOT_A_REGULAR_FILE' : 'NOT_FOUND');
  if (file.type !== 'file' || isBinary(file.content)) throw refuse('NOT_A_REGULAR_FILE');
  if (file.content.length > MAX_BLAMED_BYTES) throw refuse('FILE_TOO_LARGE');
  let before = new Uint8Array();
  let lines: { readonly text: string; readonly state: BlamedState }[] = [];
  for (const state of states) {
    const content = state.tree.get(path)?.content ?? new Uint8Array();
    const old = lines.values();
    lines = lineChanges(before, content).flatMap(({ kind, text }) => {
      const was = kind === '+' ? undefined : old.next().value;
      return kind === '-' ? [] : [was ?? { text, state }];
    });
    before = new Uint8Array(content);
  }
  const runs: { revision: number; commit: ObjectId; firstLine: number; lines: string[] }[] = [];
  for (const [index, { text, state }] of lines.entries()) {
    const last = runs.at(-1);
    if (last?.revision === state.revision) last.lines.push(text);
    else runs.push({ revision: state.revision, commit: state.commit, firstLine: index + 1, lines: [text] });
  }
  return runs;
}
