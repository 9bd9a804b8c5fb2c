import { adminApi } from './sandbox-in-pod.ts';

/** The tests' own cluster without one of its stand-ins, as long as this is in use: `policies` do nothing, the `controller` of agent-sandbox rests. */
export async function switchedOff(what: 'policies' | 'controller'): Promise<AsyncDisposable> {
  const api = adminApi();
  const path = await api.pathOf('configmaps');
  const name = `litterbox-test-no-${what}`;
  await api.ask('test', path, { method: 'POST', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } });
  return {
    async [Symbol.asyncDispose]() {
      await api.ask('test', `${path}/${name}`, { method: 'DELETE' });
      api.close();
    },
  };
}
