import {
  type Clock,
  INSIDE,
  LitterboxError,
  type SandboxId,
  type SnapshotName,
  type SnapshotProvider,
  type SnapshotUsage,
} from '@litterbox/core/provider';
import type { FileNode } from '../machine/memory-files.ts';
import { endSandbox } from './memory-runtime.ts';
import { copyOfDirectory, directoryOf, furnish, type MemorySandbox } from './memory-sandbox.ts';
import type { SandboxShelf } from './sandbox-shelf.ts';

/**
 * Snapshots of sandboxes in memory.
 *
 * @param of the sandbox of an id. @throws LitterboxError `NOT_FOUND`
 */
export function memorySnapshots(
  shelf: SandboxShelf,
  clock: Clock,
  of: (id: SandboxId) => MemorySandbox,
): SnapshotProvider {
  return {
    async take(id, options) {
      options?.signal?.throwIfAborted();
      const sandbox = of(id);
      const name = crypto.randomUUID();
      const { note } = options ?? {};
      shelf.snapshots.set(name, {
        kept: { name, sandbox: id, takenAtMs: clock.wallMs(), ...(note !== undefined && { note }) },
        workspace: copyOfDirectory(directoryOf(sandbox, sandbox.spec.workdir)),
        home: copyOfDirectory(directoryOf(sandbox, INSIDE.home)),
        version: sandbox.machine.files.version,
      });
      return name;
    },

    async restore(id, name, options) {
      options?.signal?.throwIfAborted();
      const snapshot = shelf.snapshots.get(name);
      if (!snapshot)
        throw new LitterboxError('NOT_FOUND', 'There is no such snapshot here.', { operation: 'snapshot.restore' });
      const sandbox = of(id);
      const isAsleep = sandbox.state === 'paused' || sandbox.state === 'stopped';
      await endSandbox(sandbox);
      const { machine, spec } = sandbox;
      furnish(machine, spec.workdir, {
        workspace: copyOfDirectory(snapshot.workspace),
        home: copyOfDirectory(snapshot.home),
        playground: directoryOf(sandbox, INSIDE.playground),
      });
      machine.files.countFrom(Math.max(snapshot.version, machine.files.version));
      sandbox.state = isAsleep ? 'stopped' : 'running';
    },

    async *list(options) {
      options?.signal?.throwIfAborted();
      for (const { kept } of shelf.snapshots.values()) yield kept;
    },

    async usage(names, options) {
      options?.signal?.throwIfAborted();
      const usages = new Map<SnapshotName, SnapshotUsage>();
      for (const name of names) {
        const snapshot = shelf.snapshots.get(name);
        if (!snapshot) continue;
        const diskBytes = sizeOf(snapshot.workspace) + sizeOf(snapshot.home);
        usages.set(name, { diskBytes, ownBytes: diskBytes });
      }
      return usages;
    },

    async remove(name, options) {
      options?.signal?.throwIfAborted();
      shelf.snapshots.delete(name);
    },
  };
}

/** Bytes of all contents, each of them once. */
function sizeOf(node: FileNode, counted = new Set<FileNode>()): number {
  if (counted.has(node)) return 0;
  counted.add(node);
  if (node.type === 'file') return node.content.length;
  if (node.type !== 'directory') return 0;
  return [...node.children.values()].reduce((sum, child) => sum + sizeOf(child, counted), 0);
}
