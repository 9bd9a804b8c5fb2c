import type { DiskImage } from '@litterbox/linux-sandbox';
import type { LiveLower } from '@litterbox/core/provider';
import type { ProcEntries, SessionSources } from './bwrap-arguments.ts';
import type { Machine } from '../machine/machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import type { Strategy } from '../strategies/strategy.ts';

/** All that is decided about a session before it is started. */
export interface SupervisorInput {
  readonly machine: Machine;
  readonly meta: SandboxMeta;
  readonly strategy: Strategy;
  /** Present where `base` is a directory of the person's: what of it nobody inside sees. */
  readonly live?: LiveLower;
  readonly directory: string;
  readonly base: string;
  /** Directory of the kept setup that the sandbox stands on. */
  readonly setup?: string;
  /** Directory with what of the base is newer than that. */
  readonly newer?: string;
  /** Directory of the layer that makes `base` into the base that is wanted. */
  readonly difference?: string;
  readonly playground: string;
  /** Where overlays of the machine are mounted that the session has no use for. */
  readonly unwanted: readonly string[];
  /** Where all that the sandbox writes is; absent where no disk of its own bounds it. */
  readonly disk?: DiskImage;
  readonly etc: string;
  readonly filter: string;
  readonly sources: SessionSources;
  readonly proc: ProcEntries;
  /** Numbers of the processors on which its programs run; all of the machine's when there are none. */
  readonly processors: readonly number[];
}

/** File in the sandbox's directory that tells others which processors it has while its session lives. */
export const PROCESSORS = 'processors';
