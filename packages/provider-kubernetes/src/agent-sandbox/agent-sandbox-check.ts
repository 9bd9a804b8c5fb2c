import type { CallOptions, ProbeCheck } from '@litterbox/core/provider';
import { isStatus } from '../api/api-error.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { AGENT_SANDBOX_RIGHTS, missingRights } from '../missing-rights.ts';

/** Whether sandboxes can be those of agent-sandbox. Nobody has to have it. */
export async function agentSandboxCheck(api: KubeApi, namespace: string, options?: CallOptions): Promise<ProbeCheck> {
  const name = 'agent-sandbox';
  try {
    await api.ask('provider.probe', '/apis/agents.x-k8s.io/v1beta1', { ...options });
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 403)) throw error;
    return { name, status: 'ok', finding: 'not there: kubernetes.pods cannot name it' };
  }
  const { status, finding, remedy } = await missingRights(api, namespace, AGENT_SANDBOX_RIGHTS, options);
  return status === 'ok'
    ? { name, status, finding: 'there, with all rights that it needs' }
    : { name, status: 'warning', finding, ...(remedy !== undefined && { remedy }) };
}
