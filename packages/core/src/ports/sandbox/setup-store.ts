import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/** The result of one setup, cached under a key. */
export interface CachedSetup {
  readonly key: string;
  /** Sandboxes that stand on it: while there is one, it must stay. */
  readonly usedBy: readonly SandboxId[];
}

/**
 * Part of the sandbox port: keeps what setups left, beyond their sandboxes and for all processes. What is kept never changes again:
 * sandboxes that begin with it neither see nor change what another one writes.
 *
 * Kept is what differs from the base in the workspace, whether or not source control would record it, and the home directory; not the
 * playground. A kept setup is found by its key and by whatever else of the provider it depends on, such as the identity of an
 * image or, where whole workspaces are copied, the base: core's key names what was asked for, not what the provider made of it.
 *
 * A setup that was kept over another base holds what it built from files that this base has with other contents, and builds go by time.
 * So those files are newer in the sandbox than everything that is kept ({@link WorkspaceSource.openUnlike}), and files with the same
 * content have the time that they had. A source that cannot tell what differs begins with what was kept over its own base alone.
 */
export interface SetupStore {
  /**
   * Keeps what is in a sandbox now, under a key. Ends all its processes: what is kept is at rest. The sandbox goes on with the same
   * files; its runtimes, in whatever process, must be opened again. A key that is there already stays as it is. Killed half-way, it
   * leaves nothing that could be found under the key, and a sandbox that only `remove` is good for.
   */
  keep(id: SandboxId, key: string, options?: CallOptions): Promise<void>;

  /** Everything kept, in no particular order. */
  list(options?: CallOptions): AsyncIterable<CachedSetup>;
}
