import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/**
 * Part of the sandbox port: images into which something was installed, kept under keys beyond the sandboxes that it was installed in,
 * for all processes. Made of an image as it was; when the reference means another image, what was installed into the old one is not
 * found any more.
 */
export interface ImageStore {
  /** Whether something is kept under the key, for what the reference means now. Pulls nothing. */
  has(reference: string, key: string, options?: CallOptions): Promise<boolean>;

  /**
   * Keeps the system of a sandbox that was made with `isInstaller` as an image, in place of what is kept under the key. Ends its
   * processes: only `remove` is good for it afterwards. Killed half-way, it leaves nothing that could be found under the key.
   *
   * @param key lower-case hexadecimal
   * @throws LitterboxError `NOT_FOUND` when there is no such sandbox; `INVALID_ARGUMENT` for a sandbox of another kind.
   */
  keep(id: SandboxId, key: string, options?: CallOptions): Promise<void>;

  /**
   * Removes what is kept under the key for what the reference means now; nothing when there is nothing.
   *
   * @throws LitterboxError `CONFLICT` while a sandbox is made of it.
   */
  remove(reference: string, key: string, options?: CallOptions): Promise<void>;
}
