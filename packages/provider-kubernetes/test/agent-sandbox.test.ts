import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import { isLitterboxError, SandboxId, type SandboxProvider, type SandboxRuntime } from '@litterbox/core/provider';
import { object } from '../src/api/untrusted.ts';
import { podName } from '../src/pod-meta.ts';
import { absence } from './cluster.ts';
import { switchedOff } from './cluster-switch.ts';
import { kept } from './kept.ts';
import { POOL } from './pool-sample.ts';
import { adminApi, providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);

const sh = async (runtime: SandboxRuntime, script: string) =>
  (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;
const limits = { diskBytes: 48 * 2 ** 20 };
const strategy = 'agent-sandbox';
const ofPool = { strategy: 'warm-pool/litterbox' };
const SANDBOXES = 'apis/agents.x-k8s.io/v1beta1';
const EXTENSIONS = 'apis/extensions.agents.x-k8s.io/v1beta1';

async function refused(work: Promise<unknown>) {
  const begun = performance.now();
  const error: unknown = await work.catch((one: unknown) => one);
  if (!isLitterboxError(error)) throw new Error(`it was not refused: ${String(error)}`);
  expect((performance.now() - begun) / 1000).toBeLessThan(10);
  return error;
}

async function stateOf(provider: SandboxProvider, id: SandboxId) {
  for await (const one of provider.list()) if (one.id === id) return one.state;
  return undefined;
}

/** The cluster collects what belongs to a pool behind its deletion, and a pod may take its half minute to end. */
const GONE_MS = 120_000;

/** The pool of the sample with another template, as long as it is in use, once its pods run. */
async function pool(change: (template: Record<string, never>) => void = () => {}) {
  const api = adminApi();
  const objects = structuredClone(POOL) as { kind: string; metadata: { name: string }; spec: Record<string, never> }[];
  for (const { kind, spec } of objects) if (kind === 'SandboxTemplate') change(spec);
  const pathOf = async (kind: string) =>
    kind === 'NetworkPolicy'
      ? await api.pathOf('networkpolicies', 'apis/networking.k8s.io/v1')
      : await api.pathOf(`${kind.toLowerCase()}s`, EXTENSIONS);
  const pods = async () => {
    const found: string[] = [];
    for await (const one of api.list('test', await api.pathOf('pods'), 'litterbox.dev/pool'))
      if (object(object(one)['status'])['phase'] === 'Running')
        found.push(String(object(object(one)['metadata'])['name']));
    return found;
  };
  const sandboxes = async () =>
    ((await api.ask('test', await api.pathOf('sandboxes', SANDBOXES))) as { items: [] }).items;
  for (const body of objects) await api.ask('test', await pathOf(body.kind), { method: 'POST', body });
  await eventually(pods, ({ length }) => length === 3);
  return {
    pods,
    async [Symbol.asyncDispose]() {
      for (const { kind, metadata } of [...objects].reverse())
        await api.ask('test', `${await pathOf(kind)}/${metadata.name}`, { method: 'DELETE' });
      await eventually(pods, ({ length }) => length === 0, GONE_MS);
      await eventually(sandboxes, ({ length }) => length === 0, GONE_MS);
      api.close();
    },
  };
}

runner.describe('a sandbox whose pod agent-sandbox makes (a stand-in for its controller)', () => {
  runner.it('runs, is found by other programs, and leaves nothing', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    let id: SandboxId;
    {
      await using sandbox = await sandboxIn(provider, { strategy });
      ({ id } = sandbox);
      expect(await kept(api, id)).toEqual(['pods', 'networkpolicies', 'sandboxes']);
      expect(await stateOf(provider, id)).toBe('running');
      await using other = await (await providerOf(directory)).open(id);
      expect(await sh(other, 'cat README')).toBe('read me\n');
      expect((await other.assurance()).mechanism).toContain('made by agent-sandbox');
    }
    expect(await kept(api, id)).toEqual([]);
    api.close();
  });

  runner.it(
    'with a claim, stop suspends it and start brings its files back; so does the next command after an eviction',
    async () => {
      const api = adminApi();
      await using provider = await providerOf(directory);
      await using sandbox = await sandboxIn(provider, { strategy, limits });
      const { id, runtime } = sandbox;
      const mode = async () =>
        object(object(await api.ask('test', await api.pathOf(`sandboxes/${podName(id)}`, SANDBOXES)))['spec'])[
          'operatingMode'
        ];
      await sh(runtime, 'echo 1 >work');
      await runtime.stop();
      expect([await mode(), await stateOf(provider, id)]).toEqual(['Suspended', 'stopped']);
      expect(await kept(api, id)).toEqual(['persistentvolumeclaims', 'networkpolicies', 'sandboxes']);
      await using other = await (await providerOf(directory)).open(id);
      await other.start();
      expect([await mode(), await sh(other, 'cat work')]).toEqual(['Running', '1\n']);
      const pod = await api.pathOf(`pods/${podName(id)}`);
      const uid = async () => object(object(await api.ask('test', pod))['metadata'])['uid'];
      const before = await uid();
      await api.ask('test', pod, { method: 'DELETE' });
      await eventually(
        async () => await uid().catch(() => before),
        (now) => now !== before,
      );
      await using third = await (await providerOf(directory)).open(id);
      expect(await sh(third, 'cat work')).toBe('1\n');
      const { annotations } = object(object(await api.ask('test', pod))['metadata']) as { annotations: object };
      expect(annotations).toMatchObject({ 'litterbox.dev/judged': 'yes' });
      api.close();
    },
  );

  runner.it(
    'FC-484: a pod that has ended, which no controller replaces, is made anew by the next command',
    async () => {
      const api = adminApi();
      await using provider = await providerOf(directory);
      await using sandbox = await sandboxIn(provider, { strategy, limits });
      await sh(sandbox.runtime, 'echo 1 >work');
      const path = await api.pathOf(`pods/${podName(sandbox.id)}`);
      const contentType = 'application/merge-patch+json';
      const body = { spec: { activeDeadlineSeconds: 1 } };
      await api.ask('test', path, { method: 'PATCH', contentType, body });
      const phase = async () => object(object(await api.ask('test', path))['status'])['phase'];
      await eventually(phase, (is) => is === 'Failed');
      await using other = await (await providerOf(directory)).open(sandbox.id);
      expect(await sh(other, 'cat work')).toBe('1\n');
      api.close();
    },
  );

  runner.it('without a claim, a pod that was made again is no sandbox any more, and can be removed', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider, { strategy });
    await api.ask('test', await api.pathOf(`pods/${podName(sandbox.id)}`), { method: 'DELETE' });
    await eventually(
      () => stateOf(provider, sandbox.id),
      (state) => state === 'broken',
    );
    expect((await refused(provider.open(sandbox.id))).code).toBe('SANDBOX_BROKEN');
    // Nor by whom it was open: its files are not there.
    expect((await refused(sandbox.runtime.spawn({ argv: ['true'] }))).code).toBe('SANDBOX_BROKEN');
    await provider.remove(sandbox.id);
    expect(await kept(api, sandbox.id)).toEqual([]);
    api.close();
  });

  runner.it(
    'a controller that does not answer, and a quota that is used up, are told as that and leave nothing',
    async () => {
      const api = adminApi();
      await using provider = await providerOf(directory);
      const id = SandboxId.make();
      {
        await using _off = await switchedOff('controller');
        const { code, message } = await refused(provider.create(specOf(id, { strategy })));
        expect([code, message]).toEqual(['UNAVAILABLE', expect.stringContaining('made no pod in time')]);
      }
      expect(await kept(api, id)).toEqual([]);
      const quotas = await api.pathOf('resourcequotas');
      const body = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none' },
        spec: { hard: { pods: '0' } },
      };
      await api.ask('test', quotas, { method: 'POST', body });
      try {
        const isCounted = async () =>
          JSON.stringify(await api.ask('test', `${quotas}/none`)).includes('"used":{"pods"');
        await eventually(isCounted, (is) => is);
        expect((await refused(provider.create(specOf(id, { strategy })))).code).toBe('RESOURCE_EXHAUSTED');
      } finally {
        await api.ask('test', `${quotas}/none`, { method: 'DELETE' });
      }
      expect(await kept(api, id)).toEqual([]);
      api.close();
    },
  );
});

runner.describe('a sandbox whose pod is taken from a pool (a stand-in for its controller)', () => {
  runner.it('has a pod that ran before, which goes with it, and the pool fills up again', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using warm = await pool();
    const before = await warm.pods();
    const id = SandboxId.make();
    {
      await using runtime = await provider.create(specOf(id, ofPool));
      await using other = await (await providerOf(directory)).open(id);
      for (const one of [runtime, other]) expect(await sh(one, 'cat README; hostname')).toBe('read me\nsandbox\n');
      const { controls } = await other.assurance();
      expect(controls.find(({ name }) => name === 'user')).toMatchObject({ status: 'weak' });
      expect(controls.find(({ name }) => name === 'network')).toMatchObject({ status: 'enforced' });
      expect(await stateOf(provider, id)).toBe('running');
      await runtime.stop();
      expect(await stateOf(provider, id)).toBe('stopped');
      await runtime.start();
      expect(await sh(runtime, 'cat README')).toBe('read me\n');
    }
    const claim = object(await api.ask('test', await api.pathOf(`sandboxclaims/${podName(id)}`, EXTENSIONS)));
    const taken = String(object(object(claim['status'])['sandbox'])['name']);
    expect(before).toContain(taken);
    await provider.remove(id);
    expect(await kept(api, id)).toEqual([]);
    await eventually(warm.pods, (names) => names.length === 3 && !names.includes(taken));
    api.close();
  });

  runner.it('FC-480: the pod of a claim that was lost is not taken for the sandbox when a new one runs', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using warm = await pool();
    const id = SandboxId.make();
    await using runtime = await provider.create(specOf(id, ofPool));
    // FC-482: the policy selects the pod by a label that the claim brings, and nothing answers.
    const { controls } = await runtime.assurance();
    expect(controls.find(({ name }) => name === 'network')).toMatchObject({ status: 'enforced' });
    const claim = object(await api.ask('test', await api.pathOf(`sandboxclaims/${podName(id)}`, EXTENSIONS)));
    const taken = String(object(object(claim['status'])['sandbox'])['name']);
    await api.ask('test', await api.pathOf(`pods/${taken}`), { method: 'DELETE' });
    await eventually(warm.pods, (names) => names.includes(taken));
    expect(await stateOf(provider, id)).toBe('broken');
    expect((await refused(provider.open(id))).code).toBe('SANDBOX_BROKEN');
    await provider.remove(id);
    expect(await kept(api, id)).toEqual([]);
    api.close();
  });

  runner.it('a pool that is not there, and another image than that of its template, are refused', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using _warm = await pool();
    const id = SandboxId.make();
    const missing = await refused(provider.create(specOf(id, { strategy: 'warm-pool/none' })));
    expect([missing.code, missing.message]).toEqual(['NOT_FOUND', expect.stringContaining('WarmPoolNotFound')]);
    const root = { type: 'image', reference: 'debian:bookworm' } as const;
    const image = await refused(provider.create(specOf(id, { ...ofPool, root })));
    expect([image.code, image.message]).toEqual(['UNSUPPORTED', expect.stringContaining('busybox:latest')]);
    expect((await refused(provider.create(specOf(id, { ...ofPool, limits })))).code).toBe('UNSUPPORTED');
    expect(await kept(api, id)).toEqual([]);
    api.close();
  });

  runner.it('AX203: a template that isolates less is read in its pods, and refused', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using _warm = await pool((template) => {
      const { containers } = object(object(object(template)['podTemplate'])['spec']) as { containers: unknown[] };
      const own = containers[1] as { securityContext: object; resources: { limits: Record<string, string> } };
      own.securityContext = { runAsNonRoot: true };
      own.resources.limits['memory'] = '8Gi';
    });
    const id = SandboxId.make();
    const { code, details } = await refused(provider.create(specOf(id, { ...ofPool, allowDegraded: false })));
    expect(code).toBe('DEGRADED');
    const { missing } = details.facts as { missing: readonly string[] };
    expect(missing).toEqual(expect.arrayContaining(['user', 'no-new-privileges', 'files', 'memory']));
    expect(await kept(api, id)).toEqual([]);
    api.close();
  });
});

runner.describe('a namespace in which others have policies', () => {
  runner.it(
    'AX202: one that opens what ours shuts refuses each sandbox, and one that selects other pods does not',
    async () => {
      const api = adminApi();
      await using provider = await providerOf(directory);
      const path = await api.pathOf('networkpolicies', 'apis/networking.k8s.io/v1');
      const policy = (name: string, podSelector: object) => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name },
        // The probe of a create would not find it: the API does not answer there.
        spec: { podSelector, policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }] },
      });
      await api.ask('test', path, { method: 'POST', body: policy('of-others', { matchLabels: { tier: 'web' } }) });
      await api.ask('test', path, { method: 'POST', body: policy('for-all', {}) });
      try {
        const id = SandboxId.make();
        const { code, message } = await refused(provider.create(specOf(id)));
        expect(code).toBe('DEGRADED');
        expect(message).toContain('open what ours shuts: for-all)');
        expect(await kept(api, id)).toEqual([]);
        await api.ask('test', `${path}/for-all`, { method: 'DELETE' });
        await using sandbox = await sandboxIn(provider);
        expect(await sh(sandbox.runtime, 'cat README')).toBe('read me\n');
      } finally {
        for (const name of ['of-others', 'for-all'])
          await api.ask('test', `${path}/${name}`, { method: 'DELETE' }).catch(() => {});
        api.close();
      }
    },
  );
});
