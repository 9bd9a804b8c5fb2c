import {
  type CallOptions,
  type Host,
  LitterboxError,
  quoted,
  type SandboxId,
  shown,
  advice,
  step,
} from '@litterbox/core/provider';
import { diskOf, mountDisk, RESERVE_DISK, runScript } from '@litterbox/linux-sandbox';
import { INSIDE, type Layout, sandboxLayoutOf } from '../engine/layout.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/**
 * The disks of sandboxes whose `limits.diskBytes` is set, mounted on the machine as long as the container may run, because the engine makes the
 * container's mounts from there. Nothing to do for any other sandbox.
 */
export class SandboxDisks {
  readonly #provider: string;
  readonly #host: Host;
  readonly #layout: Layout;

  constructor(provider: string, host: Host, layout: Layout) {
    this.#provider = provider;
    this.#host = host;
    this.#layout = layout;
  }

  /** Before the container is made or started. Mounted already is fine. */
  async mount(meta: SandboxMeta, options?: CallOptions): Promise<void> {
    const disk = diskOf(this.#layout, meta);
    if (!disk) return;
    const { directory } = sandboxLayoutOf(this.#layout, meta.id);
    // One at a time, and nobody who waits for what somebody mounted meanwhile mounts it again.
    await this.#run(
      'provider.start',
      `fail() { echo "$1" >&2; exit 1; }
cd ${quoted(directory)} && exec 7>>disk.lock && flock -w 60 7 || fail 'the disk of the sandbox cannot be locked'
if mountpoint -q disk; then rm -rf disk/reserve; exit 0; fi
${mountDisk(disk, `${meta.user.uid}:${meta.user.gid}`)}`,
      options,
    );
  }

  /** After the container was started: {@link RESERVE_DISK}. */
  async reserve(meta: SandboxMeta, options?: CallOptions): Promise<void> {
    if (!diskOf(this.#layout, meta)) return;
    const { directory } = sandboxLayoutOf(this.#layout, meta.id);
    await runScript(this.#host, `cd ${quoted(directory)} && mountpoint -q disk && ${RESERVE_DISK}`, options);
  }

  /** After the container has ended, before its directory goes. */
  async unmount(id: SandboxId, options?: CallOptions): Promise<void> {
    const { directory, disk } = sandboxLayoutOf(this.#layout, id);
    if (!(await this.#host.files.stat(disk, options))) return;
    // The engine lets go of its mounts a moment after it has told that the container ended.
    await this.#run(
      'runtime.stop',
      `cd ${quoted(directory)} && exec 7>>disk.lock && flock -w 60 7 || exit 0
n=0
while mountpoint -q disk; do
said=$(umount disk 2>&1) && continue
n=$((n+1)); [ $n -lt 250 ] || { echo "the disk of the sandbox is in use: $said" >&2; exit 1; }
sleep 0.02
done`,
      options,
    );
  }

  /** The largest file system that the container writes to, as its kernel tells; undefined where it cannot be seen. */
  async sizeBytes(meta: SandboxMeta, pid: number, options?: CallOptions): Promise<number | undefined> {
    if (!diskOf(this.#layout, meta)) return undefined;
    const paths = [meta.workdir, INSIDE.home, INSIDE.playground].map((path) => quoted(`/proc/${pid}/root${path}`));
    // Another process may have that number here, when the engine's processes have numbers of their own.
    const { code, stdout } = await runScript(
      this.#host,
      `grep -q '^NSpid:.*[[:space:]]1$' /proc/${pid}/status && stat -f -c '%b %S' ${paths.join(' ')}`,
      options,
    );
    const sizes = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    if (code !== 0 || sizes.length !== paths.length) return undefined;
    return Math.max(...sizes.map(([blocks = Number.NaN, blockBytes = Number.NaN]) => blocks * blockBytes));
  }

  async #run(operation: string, script: string, options?: CallOptions): Promise<void> {
    const { code, stderr } = await runScript(this.#host, script, options);
    if (code === 0) return;
    throw new LitterboxError(
      /no space left on device/i.test(stderr) ? 'DISK_FULL' : 'UNAVAILABLE',
      `The disk of the sandbox cannot be used: ${shown(stderr.trim())}.`,
      {
        operation,
        provider: this.#provider,
        hint: advice`Try again; if it happens again, run ${step('machine-check')}.`,
      },
    );
  }
}
