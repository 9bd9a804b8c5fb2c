import type { CallOptions } from '@litterbox/core/provider';
import type { KubeApi } from './api/kube-api.ts';
import { list, object, text } from './api/untrusted.ts';
import { LABELS, type PodState } from './pod-meta.ts';

const MAX_NAMED = 5;

/**
 * Names of the policies of others that open something for a pod. Policies add up: where one allows, ours that denies all denies nothing.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export async function othersPolicies(
  api: KubeApi,
  { labels }: PodState,
  options?: CallOptions,
): Promise<readonly string[]> {
  const path = await api.pathOf('networkpolicies', 'apis/networking.k8s.io/v1');
  const found: string[] = [];
  for await (const policy of api.list('provider.assurance', path, `!${LABELS.id}`, options)) {
    const { metadata, spec } = object(policy);
    const { podSelector, ingress, egress } = object(spec);
    const opens = list(ingress).length > 0 || list(egress).length > 0;
    if (opens && selects(podSelector, labels)) found.push(text(object(metadata)['name']).slice(0, 100));
  }
  return found.slice(0, MAX_NAMED);
}

/** A selector that nobody here can read selects the pod. */
function selects(selector: unknown, labels: PodState['labels']): boolean {
  const { matchLabels, matchExpressions } = object(selector);
  return (
    Object.entries(object(matchLabels)).every(([name, value]) => labels[name] === value) &&
    list(matchExpressions)
      .map(object)
      .every(({ key, operator, values }) => {
        const value = labels[text(key)];
        const isIn = value !== undefined && list(values).includes(value);
        if (operator === 'In') return isIn;
        if (operator === 'NotIn') return !isIn;
        if (operator === 'Exists') return value !== undefined;
        return operator === 'DoesNotExist' ? value === undefined : true;
      })
  );
}
