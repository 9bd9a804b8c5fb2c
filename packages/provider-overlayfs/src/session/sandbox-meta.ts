import {
  type ArtefactLayer,
  type BaseOver,
  type DirectoryDescription,
  type NewerFiles,
} from '@litterbox/linux-sandbox';
import { type LiveLower, type SandboxRoot } from '@litterbox/core/provider';
import type { Strategy } from '../strategies/strategy.ts';

/** What `create` decided for a sandbox. */
export interface SandboxMeta extends DirectoryDescription {
  readonly base: string;
  readonly strategy: Strategy['name'];
  readonly root: Exclude<SandboxRoot, { type: 'image' }>;
  /** The kept setup that it stands on, and what the programs were then. */
  readonly prepared?: { readonly key: string; readonly programs: string };
  /** What of the base is others than that setup saw. */
  readonly newer?: NewerFiles;
  /** What came along from the person's working tree; never beside `prepared`. */
  readonly artefacts?: ArtefactLayer;
  /** Present where the base is another one with a layer over it. */
  readonly over?: BaseOver;
  /** The directory of the person's that its workspace stands on, instead of on the base tree, which is then not there. */
  readonly live?: LiveLower;
  /** Directories of programs that were in PATH, and visible inside, when it was made. Of a root of the machine. */
  readonly searchPath?: readonly string[];
  /** Its layers began as copies of another sandbox's, or of a snapshot. */
  readonly isCopy?: true;
  /** Where change scans begin when nothing was recorded yet: absent when the whole layer is new. */
  readonly firstMark?: string;
}
