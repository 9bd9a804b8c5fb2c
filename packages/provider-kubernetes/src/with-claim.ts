import type { ClaimState } from './claims.ts';
import { podName, type PodState } from './pod-meta.ts';

/** A sandbox without a pod, as far as one decides about it. */
export const NO_POD = {
  labels: {},
  isOwned: false,
  isJudged: false,
  meta: undefined,
  made: undefined,
  isStopped: false,
  gone: {},
  hasClaim: false,
  isRunning: false,
  isOver: false,
  hasEnded: false,
  isIdle: true,
  waiting: undefined,
  node: '',
  spec: {},
} as const;

/** A claim counts more than its pod: pods of it come and go. */
export function withClaim(pod: PodState | undefined, claim: ClaimState | undefined): PodState | undefined {
  if (!claim) return pod;
  return { ...(pod ?? { ...NO_POD, name: podName(claim.id), isGone: true }), ...claim, hasClaim: true };
}
