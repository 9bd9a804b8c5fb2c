import type { ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import type { LargeFileContent } from '../large-files/checked-in-trees.ts';
import type { MergeArguments } from '../person/merge-arguments.ts';
import type { PlanKind } from '../publish/plan-kind.ts';
import type { ConflictStage } from '../publish/merge-trees.ts';
import type { PathStep } from '../store/read-diff.ts';

/** The token of a plan: everything execution needs, as JSON. */
export interface PlanToken {
  readonly version: 1;
  /** The commit in the store that was merged. The person's branch gets `drafts` in its place. */
  readonly theirs: ObjectId;
  /** The commit that `drafts` stand on. */
  readonly onto: ObjectId;
  /** Trees and messages that become the person's commits, oldest first. */
  readonly drafts: readonly { readonly tree: ObjectId; readonly message: string }[];
  readonly headTree: ObjectId;
  /** The last commit with parts of an apply before, which are staged, where this one stands on those; and their files. */
  readonly fromTree?: ObjectId;
  readonly begun?: readonly ByteString[];
  /** Whether it takes some of the files or changes alone. */
  readonly isPart?: true;
  readonly resultTree: ObjectId;
  readonly stages: readonly ConflictStage[];
  readonly steps: readonly PathStep[];
  /** Contents of Git LFS to which the trees have pointers. */
  readonly largeFiles: readonly LargeFileContent[];
  readonly kind: PlanKind;
  readonly message: string;
  readonly arguments: MergeArguments;
}
