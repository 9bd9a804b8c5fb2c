import {
  type ConflictPart,
  type ConflictSide,
  type FilePart,
  readConflict as readConflictOperation,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** A file in conflict, as the page asks for it: of the plan that it shows. */
export interface AskedConflict {
  readonly path: string;
  readonly integration: 'apply' | 'merge';
  readonly paths: readonly string[];
  readonly parts: readonly FilePart[];
  /** The state that the page shows. */
  readonly tip: string;
}

/** Both sides of a file in conflict. Text that hides something comes twice: exactly, for the apply, and as a person may see it. */
export async function readConflict(litterbox: Performer, sandbox: string, asked: AskedConflict, signal: AbortSignal) {
  const { path, integration, paths, parts, tip } = asked;
  const some = { ...(paths.length > 0 && { paths }), ...(parts.length > 0 && { parts }) };
  const input = { sandbox, path, integration, tip, ...some };
  const { plan, file } = await litterbox.perform(readConflictOperation, input, { signal });
  return {
    tip: plan.tip,
    path: file.path,
    name: visibleName(file.path),
    digest: file.digest,
    ours: file.ours && sideOf(file.ours),
    theirs: file.theirs && sideOf(file.theirs),
    parts: file.parts?.map(shownPart),
  };
}

const sideOf = ({ mode, size }: ConflictSide) => ({ mode, size });

const shownPart = (part: ConflictPart) =>
  'text' in part ? { text: shownText(part.text) } : { ours: shownText(part.ours), theirs: shownText(part.theirs) };

/** `shown` is absent where it is the text itself, but for ends of lines of Windows. */
function shownText(exact: string) {
  const lines = exact.replaceAll('\r\n', '\n');
  const shown = visible(lines);
  return shown === lines ? { exact } : { exact, shown };
}
