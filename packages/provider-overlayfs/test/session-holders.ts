import { readdirSync, readlinkSync } from 'node:fs';
import type { SandboxId } from '@litterbox/core/provider';

/** Processes of this machine that hold the session of the sandbox: the supervisor, and whoever waits for it. */
export const sessionHolders = (id: SandboxId): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && filesOf(name).some((path) => path.endsWith(`/${id}/alive.lock`)))
    .map(Number);

function filesOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // it ended, or is somebody else's
  }
}
