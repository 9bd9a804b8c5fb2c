import type { FilePatch, RefusePatch } from './file-patch.ts';
import { readHunks, severalFiles } from './read-hunks.ts';
import { shown } from '../text/shown.ts';

/** The line that such a patch begins with. */
export const BEGIN_PATCH = '*** Begin Patch';
const END_PATCH = '*** End Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const HINT = 'Give one file between *** Begin Patch and *** End Patch, or a unified diff as git diff prints it.';

/**
 * A patch in the form in which Codex is taught to write them: `*** Update File`, `*** Add File` or `*** Delete File`, hunks that
 * name lines above them instead of numbers, and `*** Move to`.
 *
 * @throws LitterboxError `PATCH_CORRUPT`, `PATCH_MULTI_FILE`, `PATCH_PATH_MISMATCH`.
 */
export function parseBeginPatch(lines: readonly string[], path: string, refuse: RefusePatch): FilePatch {
  const corrupt = (index: number, what: string) => refuse('PATCH_CORRUPT', `line ${index + 1}: ${what}`, HINT);
  const isText = (line: string) => line.trim() !== '';
  const begin = lines.findIndex(isText);
  const last = lines.findLastIndex(isText);
  if (last === begin || lines[last]?.trimEnd() !== END_PATCH)
    throw corrupt(last, `it does not end with ${END_PATCH}, so a part of it may be missing`);
  const start = begin + 1;
  const [, kind, name = ''] = FILE.exec(lines[start]?.trimEnd() ?? '') ?? [];
  if (kind === undefined)
    throw corrupt(start, `${shown(lines[start])} is none of *** Add File, *** Update File and *** Delete File`);
  const second = lines.findIndex((line, index) => index > start && FILE.test(line.trimEnd()));
  if (second !== -1) throw severalFiles(second, refuse);
  if (name !== path && name.replace(/^\.\//, '') !== path)
    throw refuse('PATCH_PATH_MISMATCH', `it names ${shown(name)}`, `Write ${shown(path)} in its header.`);
  const base = { path, hunks: [], notes: [], isOfLines: true };
  if (kind === 'Delete') {
    const more = lines.findIndex((line, index) => index > start && index < last && isText(line));
    if (more !== -1) throw corrupt(more, `${shown(lines[more])} follows the file that is deleted`);
    return { ...base, type: 'delete', isWhole: true };
  }
  if (kind === 'Add') {
    const added = lines.slice(start + 1, last);
    while (added.at(-1)?.trim() === '') added.pop();
    const other = added.findIndex((line) => !line.startsWith('+'));
    if (other !== -1) throw corrupt(start + 1 + other, `${shown(added[other])} does not start with +`);
    return { ...base, type: 'create', hunks: [{ oldIndex: 0, newIndex: 0, lines: added }] };
  }
  const [, moveTo] = MOVE.exec(lines[start + 1]?.trimEnd() ?? '') ?? [];
  const range = { start: start + (moveTo === undefined ? 1 : 2), end: last, isOfLines: true };
  const { hunks, notes } = readHunks(lines, range, refuse);
  if (hunks.length === 0 && moveTo === undefined) throw refuse('PATCH_CORRUPT', 'it has no hunks', HINT);
  return { ...base, type: 'modify', hunks, notes, ...(moveTo !== undefined && { moveTo }) };
}
