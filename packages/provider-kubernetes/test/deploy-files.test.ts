import { expect, test } from '@jest/globals';
import { AGENT_SANDBOX_RIGHTS, RIGHTS } from '../src/missing-rights.ts';
import { baseObjects, chartObjects, chartValues, type Described, objectsOf, type Values } from './deploy.ts';
import { POOL } from './pool-sample.ts';

const sorted = (objects: readonly Described[]) => [...objects].sort((one, other) => one.kind.localeCompare(other.kind));
const pathsOf = (values: Values, above = ''): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' ? [`${above}${name}`] : pathsOf(value, `${above}${name}.`),
  );

test('the chart makes what the base makes, and each of its values is used', async () => {
  const values = await chartValues();
  const used = new Set<string>();
  expect(sorted(await chartObjects(values, used))).toEqual(sorted(await baseObjects()));
  expect([...used].sort()).toEqual([...pathsOf(values)].sort());
});

test('another namespace is that of all objects of the chart', async () => {
  const objects = await chartObjects({ ...(await chartValues()), namespace: 'team-a' });
  const places = objects.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace));
  expect(places).toEqual(objects.map(() => 'team-a'));
});

test('the role grants what the check of the machine asks for, and nothing else', async () => {
  const role = (await baseObjects()).find(({ kind }) => kind === 'Role');
  const granted = (
    role?.['rules'] as readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[] | undefined
  )?.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}: ${verbs.join(' ')}`)),
  );
  const asked = [...RIGHTS, ...AGENT_SANDBOX_RIGHTS].map(
    ({ group, resource, subresource, verbs }) =>
      `${group}/${resource}${subresource ? `/${subresource}` : ''}: ${verbs.join(' ')}`,
  );
  expect(granted).toEqual(asked);
});

test('the sample of a pool is what the provider makes of a sandbox', async () => {
  expect(await objectsOf('agent-sandbox/pool.yaml')).toEqual(POOL);
});
