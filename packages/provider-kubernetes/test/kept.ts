import { isLitterboxError, type SandboxId } from '@litterbox/core/provider';
import type { KubeApi } from '../src/api/kube-api.ts';
import { podName } from '../src/pod-meta.ts';

/** Kinds of things that the cluster may have of a sandbox, each with its group. */
export const KINDS = [
  ['pods', 'api/v1'],
  ['persistentvolumeclaims', 'api/v1'],
  ['networkpolicies', 'apis/networking.k8s.io/v1'],
  ['sandboxes', 'apis/agents.x-k8s.io/v1beta1'],
  ['sandboxclaims', 'apis/extensions.agents.x-k8s.io/v1beta1'],
] as const;

/** The kinds of things that the cluster has of a sandbox. */
export async function kept(api: KubeApi, id: SandboxId): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [kind, group] of KINDS)
    await api.ask('test', await api.pathOf(`${kind}/${podName(id)}`, group)).then(
      () => found.push(kind),
      (error: unknown) => {
        if (!isLitterboxError(error, 'NOT_FOUND')) throw error;
      },
    );
  return found;
}
