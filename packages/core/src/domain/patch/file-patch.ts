import type { LitterboxError, LitterboxErrorCode } from '../errors/errors.ts';

/** A piece of a patch: lines that go, lines that come, and lines around them. */
export interface PatchHunk {
  /** Where it starts in the old text, as an index of lines from 0. Absent when the diff does not say. */
  readonly oldIndex?: number;
  /** Where it starts in the new text. */
  readonly newIndex?: number;
  /** Its counts were wrong: where it does not fit at its place, it has to fit in one place alone. */
  readonly isRecounted?: boolean;
  /** Lines that stand above it, one after another. */
  readonly below?: readonly string[];
  /** It ends where the file ends. */
  readonly isLast?: boolean;
  /** As in the diff, prefix first; one that starts with `\` says that the line before it has no newline at its end. */
  readonly lines: readonly string[];
}

/** What one patch says about one file. */
export interface FilePatch {
  readonly path: string;
  readonly type: 'create' | 'modify' | 'delete';
  /** Present when the diff sets the mode: it is to be set even where the text turns out to be there already. */
  readonly executable?: boolean;
  readonly hunks: readonly PatchHunk[];
  /** Where the file is to be afterwards, as the patch names it. */
  readonly moveTo?: string;
  /** The file goes whatever it holds. */
  readonly isWhole?: boolean;
  /** Its lines say nothing of whether the last one has a newline at its end. */
  readonly isOfLines?: boolean;
  /** What was not as it should be, and was taken all the same; for whoever wrote it. */
  readonly notes: readonly string[];
}

/** Makes the error of a patch that is refused. */
export type RefusePatch = (code: LitterboxErrorCode, what: string, hint?: string) => LitterboxError;
