import { type CallOptions, type Host } from '@litterbox/core/provider';
import type { EngineAddress } from '../address/engine-address.ts';
import type { EngineFacts } from './engine-facts.ts';
import type { EngineWords } from './engine-error.ts';
import type { Layout } from './layout.ts';

/** In what one engine differs from another. */
export interface EngineFlavour extends EngineWords {
  /** Where the engine listens. @throws LitterboxError `UNAVAILABLE` when there is none, `UNSUPPORTED` for an address that cannot be honoured. */
  findEngine(host: Host, layout: Layout, options?: CallOptions): Promise<EngineAddress>;
  /** Absolute path of the engine's socket on another machine, where the address does not say. @throws LitterboxError `UNAVAILABLE` */
  findSocketThere(machine: Host, options?: CallOptions): Promise<string>;
  /** Whether the engine has an identity of its own, which it tells with every look. @defaultValue false */
  readonly hasIdentity?: boolean;
  /** Where the engine tells in its own words which controllers of control groups version 2 its containers get, if Docker's are not right. */
  readonly ownInfo?: string;
  /** How long, in milliseconds, programs believe what the engine told another one of itself, where asking it is slow. `probe` asks. @defaultValue 0 */
  readonly believedMs?: number;
  /** What the engine takes for the filter of system calls. */
  seccomp(host: Host, layout: Layout, options?: CallOptions): Promise<string>;
  /**
   * The most processes that the user of a container may have, counted by the kernel over all that share that user outside;
   * `undefined` leaves it to the engine.
   */
  userProcesses?(host: Host, facts: EngineFacts, limit: number, options?: CallOptions): Promise<number>;
  /**
   * Helps the engine to see that a container was killed: called again and again while it has not.
   *
   * @param container its whole id
   * @param killAgain tells the engine once more to kill it
   */
  release(container: string, killAgain: () => Promise<void>): Promise<void>;
  /** The mount option that gives a temporary file system to the container's user. */
  ownedBy(user: { readonly uid: number; readonly gid: number }): string;
  /**
   * True when the engine gives a new volume to whom the image's own directory at that place belongs: what an image was installed into has
   * one of root's there, and so do many images that have `/src`. @defaultValue false
   */
  readonly hasVolumesOfImage?: boolean;
  /** What masks the kernel's files, where the engine takes that for options of security, and not as Docker has it. */
  readonly masks?: readonly string[];
  /** Options that it honours where it mounts a directory of the machine; Docker has none. */
  readonly bindOptions?: string;
  /** How users of a container are mapped, in the engine's word. */
  usersMode(facts: EngineFacts, user: { readonly uid: number; readonly gid: number }): string;
}
