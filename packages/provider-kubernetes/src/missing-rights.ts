import { type CallOptions, type ProbeCheck } from '@litterbox/core/provider';
import type { KubeApi } from './api/kube-api.ts';

export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
}

/** All that a sandbox needs of its namespace. The role in `deploy/base` grants the same, and {@link AGENT_SANDBOX_RIGHTS}. */
export const RIGHTS: readonly Right[] = [
  { group: '', resource: 'pods', verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'] },
  { group: '', resource: 'pods', subresource: 'exec', verbs: ['create', 'get'] },
  { group: '', resource: 'persistentvolumeclaims', verbs: ['create', 'get', 'list', 'patch', 'delete'] },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: ['create', 'list', 'delete'] },
];

/** Rights for a pod that a controller of agent-sandbox makes. They come on top. */
export const AGENT_SANDBOX_RIGHTS: readonly Right[] = [
  { group: 'agents.x-k8s.io', resource: 'sandboxes', verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'] },
  {
    group: 'extensions.agents.x-k8s.io',
    resource: 'sandboxclaims',
    verbs: ['create', 'get', 'list', 'watch', 'delete'],
  },
];

/** Asks the cluster for each right by itself. Every user may ask that. */
export async function missingRights(
  api: KubeApi,
  namespace: string,
  rights: readonly Right[],
  options?: CallOptions,
): Promise<ProbeCheck> {
  const asked = rights.flatMap(({ verbs, ...what }) => verbs.map((verb) => ({ ...what, verb })));
  const answers = await Promise.all(
    asked.map(async (attributes) => {
      const answer = await api.ask('provider.probe', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        ...options,
        method: 'POST',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { namespace, ...attributes } },
        },
      });
      return (answer as { readonly status?: { readonly allowed?: unknown } } | null)?.status?.allowed === true;
    }),
  );
  const missing = asked
    .filter((_one, index) => !answers[index])
    .map(({ verb, resource, subresource }) => `${verb} ${resource}${subresource ? `/${subresource}` : ''}`);
  if (missing.length === 0) return { name: 'rights', status: 'ok', finding: `all that sandboxes need in ${namespace}` };
  return {
    name: 'rights',
    status: 'failed',
    finding: `this user may not, in the namespace ${namespace}: ${missing.join(', ')}`,
    remedy: 'Ask who runs the cluster to apply the role of the guide on Kubernetes, and to bind you to it.',
  };
}
