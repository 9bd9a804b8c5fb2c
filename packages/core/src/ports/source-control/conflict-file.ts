/** One file in conflict as a person settles it, before anything of the work is taken in. */
export type SettledFile = SettledBySide | SettledByText;

interface SettledBySide {
  /** From the top of the repository. */
  readonly path: string;
  /** The digest of both sides as the person saw them, from {@link ConflictFile}. */
  readonly digest: string;
  /** The file as this side has it, byte for byte; gone where that side has none. */
  readonly take: ConflictSideName;
}

interface SettledByText extends Omit<SettledBySide, 'take'> {
  /** The content of the file, to the last character, as UTF-8. */
  readonly text: string;
}

/** `ours` is the branch of the person, `theirs` the sandbox. */
export type ConflictSideName = 'ours' | 'theirs';

/** A file that both sides changed, so that somebody has to say what it becomes. Names and contents are hostile. */
export interface ConflictFile {
  readonly path: string;
  /** Tells these sides from any others: kinds and contents of both, and of what they began with. */
  readonly digest: string;
  /** Absent where that side has no such file. */
  readonly ours?: ConflictSide;
  readonly theirs?: ConflictSide;
  /** The merged text, in order; its parts put together are the whole file. Absent when the file can be taken by a side alone: no text, of Git LFS, too large. */
  readonly parts?: readonly ConflictPart[];
}

/** A file as one side has it. */
export interface ConflictSide {
  /** As git writes it: `100644`, `100755`, `120000`, `160000`. */
  readonly mode: string;
  /** Bytes of the content; 0 of a submodule. */
  readonly size: number;
}

/** Lines on which both sides agree, or those of each. Every character of the file is there, its ends of lines too. */
export type ConflictPart = { readonly text: string } | { readonly ours: string; readonly theirs: string };
