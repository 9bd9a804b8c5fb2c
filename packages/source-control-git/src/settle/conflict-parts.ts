import type { ConflictPart } from '@litterbox/core/provider';

/** Longest mark of a conflict that is written. A file whose own lines need a longer one is taken by a side. */
const MAX_MARK = 1_000;

/** A length of mark that no line of these contents begins with, so that none of them can be taken for one; undefined where it would be too long. */
export function markLength(contents: readonly string[]): number | undefined {
  let longest = 6;
  for (const content of contents)
    for (const [run] of content.matchAll(/^(?:<+|=+|>+|\|+)/gm)) longest = Math.max(longest, run.length);
  return longest < MAX_MARK ? longest + 1 : undefined;
}

/**
 * Text with marks of conflicts as parts, none of them a mark.
 *
 * @param sides the whole contents: where one of them ends without a newline, git has added one before its mark
 */
export function conflictParts(
  marked: string,
  length: number,
  sides: { readonly ours: string; readonly theirs: string },
): ConflictPart[] {
  const parts: ConflictPart[] = [];
  let kind: 'text' | 'ours' | 'theirs' = 'text';
  let lines = { text: [] as string[], ours: [] as string[], theirs: [] as string[] };
  const close = () => {
    if (kind === 'theirs') parts.push({ ours: lines.ours.join(''), theirs: lines.theirs.join('') });
    else if (lines.text.length > 0) parts.push({ text: lines.text.join('') });
    lines = { text: [], ours: [], theirs: [] };
  };
  const [open, middle, end] = ['<', '=', '>'].map((sign) => sign.repeat(length)) as [string, string, string];
  for (const line of marked.match(/[^\n]*\n|[^\n]+/g) ?? []) {
    if (kind === 'text' && line.startsWith(open)) {
      close();
      kind = 'ours';
    } else if (kind === 'ours' && line.startsWith(middle)) kind = 'theirs';
    else if (kind === 'theirs' && line.startsWith(end)) {
      close();
      kind = 'text';
    } else lines[kind].push(line);
  }
  close();
  const last = parts.at(-1);
  if (last && 'ours' in last)
    parts[parts.length - 1] = { ours: asEnded(last.ours, sides.ours), theirs: asEnded(last.theirs, sides.theirs) };
  return parts;
}

const asEnded = (part: string, whole: string) => (whole.endsWith('\n') ? part : part.replace(/\r?\n$/, ''));
