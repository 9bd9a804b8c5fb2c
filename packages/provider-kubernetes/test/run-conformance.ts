import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { describeSandboxProvider, forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { kubernetes } from '../src/index.ts';
import { absence } from './cluster.ts';

/**
 * Runs the kit on pods of an image that the nodes of the tests' cluster have.
 *
 * @param strategy who makes the pods, as `kubernetes.pods` names them; without it the provider itself
 */
export async function runConformance(reference: string, strategy?: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const host = localHost();
  describeSandboxProvider({
    name: `kubernetes, ${reference}${strategy === undefined ? '' : `, ${strategy}`}`,
    runner: await forBackend('kubernetes', { describe, it, afterAll }, absence),
    open: async () => kubernetes({ host, facts: await host.facts(), directory }),
    host,
    timeoutMs: 180_000,
    root: { type: 'image', reference },
    ...(strategy !== undefined && { strategy }),
    lacking: ['pause', 'refused-processes'],
  });
}
