import { type Assurance, type CallOptions, decodeRaw, type ExecChannel } from '@litterbox/core/provider';
import { apiAddress, type KubeApi } from './api/kube-api.ts';
import { BEGIN_LOOK, END_LOOK } from './network-probe.ts';
import { othersPolicies } from './others-policies.ts';
import { assuranceOf, FACTS_SCRIPT } from './pod-assurance.ts';
import type { PodMeta, PodState } from './pod-meta.ts';

const MAX_FACTS_BYTES = 2 ** 20;

export interface LookInput {
  readonly api: KubeApi;
  readonly provider: string;
  readonly meta: PodMeta;
  readonly state: PodState;
  /** Runs our own words in the pod. */
  readonly control: ExecChannel;
}

/** Looks at the controls of a pod that runs: inside, and in its namespace. */
export async function lookAtControls(input: LookInput, options?: CallOptions): Promise<Assurance> {
  const { api, provider, meta, state, control } = input;
  const { stdout } = await control.run({
    argv: [await apiAddress(api)],
    script: `${BEGIN_LOOK}\n${FACTS_SCRIPT}\n${END_LOOK}`,
    maxOutputBytes: MAX_FACTS_BYTES,
  });
  options?.signal?.throwIfAborted();
  return assuranceOf(provider, meta, state, decodeRaw(stdout.bytes), await othersPolicies(api, state, options));
}
