import { afterAll, describe, expect, it } from '@jest/globals';
import { forBackend } from '@litterbox/conformance';
import { absence } from './cluster.ts';
import { chartObjects, chartValues } from './deploy.ts';
import { adminApi } from './sandbox-in-pod.ts';

const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);
const GROUPS: Readonly<Record<string, string>> = {
  Role: 'apis/rbac.authorization.k8s.io/v1',
  RoleBinding: 'apis/rbac.authorization.k8s.io/v1',
};

runner.describe('the chart of the deployment', () => {
  // A server drops a field that its schema does not have, and says nothing.
  runner.it('a real server takes each of its objects, and drops no field', async () => {
    const api = adminApi();
    const { namespace } = await api.context();
    const values = await chartValues();
    const made = await chartObjects({ ...values, namespace: 'litterbox-of-nobody' });
    const asked = [
      ...(await chartObjects({ ...values, namespace })).filter(({ kind }) => kind !== 'Namespace'),
      ...made.filter(({ kind }) => kind === 'Namespace'),
    ];
    expect(asked).toHaveLength(made.length);
    for (const body of asked) {
      const kinds = `${body.kind.toLowerCase()}s`;
      const path = body.kind === 'Namespace' ? '/api/v1/namespaces' : await api.pathOf(kinds, GROUPS[body.kind]);
      expect(await api.ask('test', `${path}?dryRun=All`, { method: 'POST', body })).toMatchObject(body);
    }
    api.close();
  });
});
