import { availableParallelism, totalmem } from 'node:os';
import type { SandboxSummary } from 'litterbox';
import type { Keys } from '../door/keys.ts';
import type { ServedSandbox } from '../served-sandbox.ts';

/**
 * Clients decide by it: streams of bodies and closing of input are there (0.5.7); metadata of files (0.6.2) and later things are not,
 * and the clients then refuse them by themselves.
 */
export const ENVD_VERSION = '0.6.0';

/** A sandbox as the answer to a create or a connect. */
export function openedView({ id, sandbox, traits }: ServedSandbox, keys: Keys, port: number): object {
  return {
    sandboxID: id,
    templateID: traits.template,
    alias: sandbox.name,
    clientID: 'litterbox',
    envdVersion: ENVD_VERSION,
    envdAccessToken: keys.tokenOf(id),
    domain: `localhost:${port}`, // addresses that clients make of it lead nowhere else
  };
}

/** A sandbox as lists and details have it. */
export function listedView(served: ServedSandbox, summary: Pick<SandboxSummary, 'createdAtMs'>): object {
  const { id, sandbox, traits, isPaused, endAtMs } = served;
  const { limits } = sandbox.record.policy;
  return {
    sandboxID: id,
    templateID: traits.template,
    alias: sandbox.name,
    clientID: 'litterbox',
    startedAt: new Date(summary.createdAtMs).toISOString(),
    endAt: new Date(endAtMs).toISOString(),
    state: isPaused ? 'paused' : 'running',
    cpuCount: Math.ceil(limits.cpus ?? availableParallelism()),
    memoryMB: Math.floor((limits.memoryBytes ?? totalmem()) / 2 ** 20),
    diskSizeMB: Math.floor((limits.diskBytes ?? 0) / 2 ** 20),
    envdVersion: ENVD_VERSION,
    metadata: traits.metadata,
    volumeMounts: [],
    lifecycle: { onTimeout: traits.atEnd === 'kill' ? 'kill' : 'pause', autoResume: traits.autoResume },
  };
}
