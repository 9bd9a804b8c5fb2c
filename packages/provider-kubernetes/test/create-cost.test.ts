import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { ExecChannel } from '@litterbox/core/provider';
import { absence } from './cluster.ts';
import { countedCluster } from './counted-cluster.ts';
import { providerOf, sandboxIn } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);
const counted = (words: readonly string[]) =>
  Object.fromEntries([...new Set(words)].sort().map((word) => [word, words.filter((one) => one === word).length]));

runner.describe('what is asked of a cluster', () => {
  runner.it('for a create: one program, three changes, and no question twice', async () => {
    await using cluster = await countedCluster();
    await using provider = await providerOf(directory, cluster.file);
    await using _sandbox = await sandboxIn(provider);
    const { 'watch pods': watches = 0, 'GET pods': looks = 0, ...others } = counted(cluster.asked);
    expect(others).toEqual({
      'POST networkpolicies': 1,
      'POST pods': 1,
      'PATCH pods': 1,
      'exec sandbox': 1,
      'GET networkpolicies': 1,
      // Never those of the whole namespace: it may have thousands.
      'GET pods of a node': 1,
    });
    // A slow node is looked at every few seconds; the mark and each watch that ends are one each.
    expect(looks).toBeLessThanOrEqual(1 + watches);
  });

  runner.it('for commands after the first: nothing, but for what looks for changes, once', async () => {
    await using cluster = await countedCluster();
    await using provider = await providerOf(directory, cluster.file);
    await using sandbox = await sandboxIn(provider);
    await using channel = new ExecChannel({ spawn: (spec, options) => sandbox.runtime.spawn(spec, options) });
    await channel.run({ argv: ['true'] });
    cluster.asked.length = 0;
    for (let round = 0; round < 10; round += 1)
      expect((await channel.run({ argv: ['true'] })).exit).toEqual({ code: 0 });
    expect(cluster.asked.slice(2)).toEqual([]); // two, and else which
  });
});
