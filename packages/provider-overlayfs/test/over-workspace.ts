import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceSource } from '@litterbox/core/provider';

/**
 * A workspace that is near to that of another key.
 *
 * @param difference shell text that makes what has to lie over the other one; what is gone is `mknod NAME c 0 0`
 * @param whole the same workspace, for who does not begin with the other one
 */
export function workspaceOver(base: string, difference: string, whole: WorkspaceSource): WorkspaceSource {
  return {
    ...whole,
    nearest: async (keys) => keys.find((key) => key === base),
    openOver: () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(packed(difference));
          controller.close();
        },
      }),
  };
}

function packed(script: string): Uint8Array {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-over-'));
  try {
    const pack = `${script}\ntar -c -f - --owner=0 --group=0 -- *`;
    return new Uint8Array(execFileSync('sh', ['-c', `set -e; ${pack}`], { cwd: directory }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}
