// Stands in for the controller of agent-sandbox on the test's own cluster: agent-sandbox.mjs DIRECTORY. That one cannot be built of Debian's packages.
// This one does what the types of v1beta1 say, as far as Litterbox uses it: a pod for each Sandbox, none while it is Suspended, pools, and claims that
// take from them. Format: https://github.com/kubernetes-sigs/agent-sandbox, api/v1beta1 and extensions/api/v1beta1.
import { setTimeout as delay } from 'node:timers/promises';
import { apiOf } from './api.mjs';

const [, , directory] = process.argv;
const ask = apiOf(directory);
const LOOK_AGAIN_MS = 100;
const CORE = 'agents.x-k8s.io';
const EXTENSIONS = 'extensions.agents.x-k8s.io';
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const METADATA = { type: 'object', properties: { labels: OPEN, annotations: OPEN } };
const TEXT = { type: 'string' };
const BLUEPRINT = {
  podTemplate: { type: 'object', required: ['spec'], properties: { spec: OPEN, metadata: METADATA } },
  volumeClaimTemplates: { type: 'array', items: OPEN },
  service: { type: 'boolean' },
};
const KINDS = [
  {
    group: CORE,
    kind: 'Sandbox',
    plural: 'sandboxes',
    required: ['podTemplate'],
    properties: { ...BLUEPRINT, operatingMode: { type: 'string', enum: ['Running', 'Suspended'], default: 'Running' } },
  },
  {
    group: EXTENSIONS,
    kind: 'SandboxClaim',
    plural: 'sandboxclaims',
    required: ['warmPoolRef'],
    properties: {
      warmPoolRef: { type: 'object', required: ['name'], properties: { name: TEXT } },
      additionalPodMetadata: METADATA,
      env: { type: 'array', items: OPEN },
    },
  },
  {
    group: EXTENSIONS,
    kind: 'SandboxTemplate',
    plural: 'sandboxtemplates',
    required: ['podTemplate'],
    properties: {
      ...BLUEPRINT,
      networkPolicy: OPEN,
      networkPolicyManagement: { type: 'string', enum: ['Managed', 'Unmanaged'], default: 'Managed' },
      envVarsInjectionPolicy: { type: 'string', enum: ['Allowed', 'Overrides', 'Disallowed'], default: 'Disallowed' },
    },
  },
  {
    group: EXTENSIONS,
    kind: 'SandboxWarmPool',
    plural: 'sandboxwarmpools',
    required: ['sandboxTemplateRef'],
    properties: {
      replicas: { type: 'integer', minimum: 0, default: 1 },
      sandboxTemplateRef: { type: 'object', required: ['name'], properties: { name: TEXT } },
    },
  },
];

for (const { group, kind, plural, required, properties } of KINDS)
  await ask('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'POST', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a stand-in of tests' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              required: ['spec'],
              properties: { spec: { type: 'object', required, properties }, status: OPEN },
            },
          },
        },
      ],
    },
  });

const listOf = async (plural, group = CORE) => (await ask(`/apis/${group}/v1beta1/${plural}`)).items;
const pathOf = ({ metadata: { namespace, name } }, plural, group = CORE) =>
  `/apis/${group}/v1beta1/namespaces/${namespace}/${plural}/${name}`;
const collection = (path) => path.slice(0, path.lastIndexOf('/'));
const ownerOf = ({ apiVersion, kind, metadata: { name, uid } }) => [
  { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
];
const isOwnedBy = (one, owner) => one.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid);
const merge = (path, body) => ask(path, 'PATCH', body);
const ready = (status, reason, message = '') => ({
  conditions: [
    { type: 'Ready', status, reason, message, lastTransitionTime: new Date().toISOString().replace(/\.\d+/, '') },
  ],
});

/** Writes a status where it says something new. */
async function tell(one, plural, group, status) {
  const { conditions: [next] = [], ...rest } = status;
  const { conditions: [last] = [], ...before } = one.status ?? {};
  const isSame = last?.reason === next.reason && last?.message === next.message;
  if (isSame && JSON.stringify(rest) === JSON.stringify(before)) return;
  await merge(`${pathOf(one, plural, group)}/status`, { status });
}

async function makePod(sandbox) {
  const { namespace, name } = sandbox.metadata;
  const { spec, metadata } = sandbox.spec.podTemplate;
  await ask(`/api/v1/namespaces/${namespace}/pods`, 'POST', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name, ownerReferences: ownerOf(sandbox) },
    spec,
  });
}

async function reconcileSandbox(sandbox, pods) {
  const { namespace, name, annotations = {} } = sandbox.metadata;
  const pod = pods.find((one) => one.metadata.namespace === namespace && one.metadata.name === name);
  const path = pathOf(sandbox, 'sandboxes');
  const podPath = `/api/v1/namespaces/${namespace}/pods/${name}`;
  if (pod && !isOwnedBy(pod, sandbox)) return;
  const noted = annotations['agents.x-k8s.io/pod-name'];
  const note = (value) => merge(path, { metadata: { annotations: { 'agents.x-k8s.io/pod-name': value } } });
  if (sandbox.spec.operatingMode === 'Suspended') {
    if (pod && !pod.metadata.deletionTimestamp) await ask(podPath, 'DELETE');
    if (!pod && noted) await note(null);
    return await tell(sandbox, 'sandboxes', CORE, ready('False', 'SandboxSuspended'));
  }
  if (!pod) {
    try {
      await makePod(sandbox);
    } catch (error) {
      return await tell(sandbox, 'sandboxes', CORE, ready('False', 'ReconcilerError', String(error).slice(0, 500)));
    }
    if (noted !== name) await note(name);
    return await tell(sandbox, 'sandboxes', CORE, ready('False', 'DependenciesNotReady'));
  }
  const { metadata = {} } = sandbox.spec.podTemplate;
  const lacks = ['labels', 'annotations'].some((kind) =>
    Object.entries(metadata[kind] ?? {}).some(([key, value]) => pod.metadata[kind]?.[key] !== value),
  );
  if (lacks) await merge(podPath, { metadata: { labels: metadata.labels, annotations: metadata.annotations } });
  const isReady = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  const told = isReady ? ready('True', 'DependenciesReady') : ready('False', 'DependenciesNotReady');
  await tell(sandbox, 'sandboxes', CORE, {
    ...told,
    ...(pod.status.podIP && { podIPs: [pod.status.podIP] }),
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
  });
}

async function reconcilePool(pool, templates, sandboxes) {
  const { namespace } = pool.metadata;
  const template = templates.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === pool.spec.sandboxTemplateRef.name,
  );
  const own = sandboxes.filter((one) => isOwnedBy(one, pool));
  for (const extra of own.slice(pool.spec.replicas)) await ask(pathOf(extra, 'sandboxes'), 'DELETE');
  if (!template) return;
  for (let count = own.length; count < pool.spec.replicas; count += 1) {
    const { podTemplate, service } = template.spec;
    const name = `${pool.metadata.name}-${crypto.randomUUID().slice(0, 8)}`;
    await ask(collection(pathOf({ metadata: { namespace, name } }, 'sandboxes')), 'POST', {
      apiVersion: `${CORE}/v1beta1`,
      kind: 'Sandbox',
      metadata: { name, ownerReferences: ownerOf(pool) },
      spec: { podTemplate, ...(service !== undefined && { service }), operatingMode: 'Running' },
    });
  }
}

async function reconcileClaim(claim, pools, sandboxes) {
  const say = (status) => tell(claim, 'sandboxclaims', EXTENSIONS, status);
  const own = sandboxes.find((one) => isOwnedBy(one, claim));
  if (own) {
    const { conditions, podIPs = [] } = own.status ?? {};
    const condition = conditions?.[0] ?? ready('False', 'SandboxNotReady').conditions[0];
    return await say({ conditions: [condition], sandbox: { name: own.metadata.name, podIPs } });
  }
  const { namespace } = claim.metadata;
  const wanted = claim.spec.warmPoolRef.name;
  const pool = pools.find(({ metadata }) => metadata.namespace === namespace && metadata.name === wanted);
  if (!pool) return await say(ready('False', 'WarmPoolNotFound', `SandboxWarmPool "${wanted}" not found`));
  const isReady = ({ status }) => status?.conditions?.[0]?.status === 'True';
  const taken = sandboxes.find((one) => isOwnedBy(one, pool) && isReady(one));
  if (!taken) return await say(ready('False', 'SandboxMissing', 'Sandbox does not exist'));
  const { labels, annotations } = claim.spec.additionalPodMetadata ?? {};
  taken.metadata.ownerReferences = ownerOf(claim);
  await merge(pathOf(taken, 'sandboxes'), {
    metadata: { resourceVersion: taken.metadata.resourceVersion, ownerReferences: ownerOf(claim) },
    spec: {
      podTemplate: {
        metadata: { labels: { ...labels, 'agents.x-k8s.io/claim-uid': claim.metadata.uid }, annotations },
      },
    },
  });
  await say({ ...ready('False', 'SandboxNotReady'), sandbox: { name: taken.metadata.name } });
}

/** The collector of the cluster does this later: it looks for new kinds every half minute. */
async function collect(sandboxes, claims, pools, pods) {
  const uids = new Set([...sandboxes, ...claims, ...pools].map(({ metadata }) => metadata.uid));
  const isLeft = (one, kinds) =>
    one.metadata.ownerReferences?.some(({ kind, uid }) => kinds.includes(kind) && !uids.has(uid));
  for (const one of sandboxes)
    if (isLeft(one, ['SandboxClaim', 'SandboxWarmPool'])) await ask(pathOf(one, 'sandboxes'), 'DELETE');
  for (const { metadata, ...pod } of pods)
    if (isLeft({ metadata, ...pod }, ['Sandbox']) && !metadata.deletionTimestamp)
      await ask(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, 'DELETE');
}

for (;;) {
  try {
    const claims = await listOf('sandboxclaims', EXTENSIONS);
    const pools = await listOf('sandboxwarmpools', EXTENSIONS);
    const templates = await listOf('sandboxtemplates', EXTENSIONS);
    const sandboxes = await listOf('sandboxes');
    const { items: pods } = await ask('/api/v1/pods');
    const { items: switches } = await ask(
      '/api/v1/configmaps?fieldSelector=metadata.name=litterbox-test-no-controller',
    );
    if (switches.length === 0) {
      const work = [
        ...claims.map((one) => () => reconcileClaim(one, pools, sandboxes)),
        ...pools.map((one) => () => reconcilePool(one, templates, sandboxes)),
        ...sandboxes.map((one) => () => reconcileSandbox(one, pods)),
        () => collect(sandboxes, claims, pools, pods),
      ];
      // An object that has changed meanwhile is looked at again.
      for (const one of work) await one().catch((error) => console.error(String(error)));
    }
  } catch (error) {
    console.error(String(error));
  }
  await delay(LOOK_AGAIN_MS);
}
