import { fixtureWorkspace } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { SandboxId, type SandboxProvider, type SandboxRuntime, type SandboxSpec } from '@litterbox/core/provider';
import { kubernetes } from '../src/index.ts';
import { KubeApi } from '../src/api/kube-api.ts';

export const specOf = (id: SandboxId, changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
  id,
  slug: 'kit',
  repositoryId: '00000000-0000-4000-8000-000000000000',
  workspace: fixtureWorkspace('f1f1f1f1', [{ path: 'README', content: 'read me\n' }]),
  workdir: '/src',
  root: { type: 'image', reference: 'busybox:latest' },
  environment: {},
  limits: {},
  network: 'none',
  playground: id,
  allowDegraded: true,
  ...changes,
});

/** A provider over the tests' cluster, for who is in the file. */
export async function providerOf(directory: string, file = process.env['KUBECONFIG'] ?? ''): Promise<SandboxProvider> {
  const host = localHost();
  const facts = await host.facts();
  return kubernetes({
    host: Object.assign(Object.create(host), { environment: { ...host.environment, KUBECONFIG: file } }),
    facts,
    directory,
  });
}

/** One sandbox, which goes with `await using`. */
export async function sandboxIn(provider: SandboxProvider, changes: Partial<SandboxSpec> = {}) {
  const id = SandboxId.make();
  const runtime: SandboxRuntime = await provider.create(specOf(id, changes));
  return {
    id,
    runtime,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    },
  };
}

/** The API, as who made the cluster. */
export function adminApi(): KubeApi {
  return new KubeApi({ provider: 'kubernetes', environment: process.env, homeDirectory: '/nowhere' });
}
