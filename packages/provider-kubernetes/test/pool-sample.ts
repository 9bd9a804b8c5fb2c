import { INSIDE } from '@litterbox/core/provider';
import { POOL_USER, podSpecOf } from '../src/pod-spec.ts';

const NAME = 'litterbox';
const labels = { 'litterbox.dev/pool': NAME };
/** The default limits of a sandbox: a pod of the pool may have less, never more. */
const LIMITS = { cpus: 2, memoryBytes: 4 * 2 ** 30 } as const;
/** The image where nobody names one. */
const IMAGE = 'busybox:latest';

/**
 * A pool of agent-sandbox whose pods pass the controls: the policy that shuts them in, the template and the pool. `deploy/agent-sandbox` has them
 * as a file. Unmanaged: the controller's own policy lets pods reach the internet, and policies add up.
 */
export const POOL: readonly object[] = [
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'litterbox-pool' },
    spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress', 'Egress'], ingress: [], egress: [] },
  },
  {
    apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
    kind: 'SandboxTemplate',
    metadata: { name: NAME },
    spec: {
      networkPolicyManagement: 'Unmanaged',
      envVarsInjectionPolicy: 'Disallowed',
      service: false,
      podTemplate: {
        metadata: { labels },
        spec: podSpecOf({ image: IMAGE, user: POOL_USER, workdir: INSIDE.alias, limits: LIMITS }, []),
      },
    },
  },
  {
    apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
    kind: 'SandboxWarmPool',
    metadata: { name: NAME },
    spec: { replicas: 3, sandboxTemplateRef: { name: NAME } },
  },
];
