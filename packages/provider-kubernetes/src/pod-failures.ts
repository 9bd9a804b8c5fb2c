import { advice, LitterboxError, type SandboxId, shown, step } from '@litterbox/core/provider';
import { words } from './api/untrusted.ts';
import { podName, type PodState } from './pod-meta.ts';

/** The pod is not there any more, or will never run again. */
export function podGone(provider: string, id: SandboxId, reason = ''): LitterboxError {
  return new LitterboxError('SANDBOX_BROKEN', `The pod ${podName(id)} has ended${reason && `: ${words(reason)}`}.`, {
    operation: 'provider.start',
    provider,
    hint: advice`Its node may have failed or evicted it. Build it from its recorded revisions: ${step('sandbox-recover')}.`,
  });
}

/** Its container waits for what never comes. */
export function hopeless(provider: string, reason: string, message: string, { meta }: PodState): LitterboxError {
  const isImage = /Image/.test(reason);
  return new LitterboxError(
    isImage ? 'NOT_FOUND' : 'UNAVAILABLE',
    isImage
      ? `The cluster cannot get the image ${shown(meta?.image ?? '')} (${reason}): ${words(message)}.`
      : `The container does not start (${reason}): ${words(message)}.`,
    {
      operation: 'provider.create',
      provider,
      hint: isImage
        ? 'Check its name in container.base-image, and whether the nodes may pull it.'
        : 'The image needs /bin/sh, mkdir, env and tar; look at kubectl get events.',
    },
  );
}

/** The scheduler finds no place for it. */
export function noRoom(provider: string, message: string): LitterboxError {
  return new LitterboxError('RESOURCE_EXHAUSTED', `No node of the cluster takes the pod: ${words(message)}.`, {
    operation: 'provider.create',
    provider,
    hint: 'Delete sandboxes that nobody needs, or add a node.',
  });
}

/** It did not run in time. */
export function tooLate(provider: string, seconds: number, reason: string, message: string): LitterboxError {
  return new LitterboxError(
    'TIMED_OUT',
    `The pod did not run within ${seconds} seconds${reason && ` (${reason}: ${words(message)})`}.`,
    { operation: 'provider.create', provider, hint: 'Look at kubectl get events; then try again.' },
  );
}

/** Nobody can stop the processes of a pod for a while. */
export function cannotFreeze(provider: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', 'A pod cannot be frozen.', {
    operation: 'runtime.pause',
    provider,
    hint: advice`Stop it instead, its files stay: ${step('sandbox-stop')}.`,
  });
}

/** A controller says that it cannot make the pod. */
export function cannotMake(provider: string, reason: string, message: string): LitterboxError {
  const isQuota = /exceeded quota/i.test(message);
  const isPool = reason.endsWith('NotFound');
  return new LitterboxError(
    isQuota ? 'RESOURCE_EXHAUSTED' : isPool ? 'NOT_FOUND' : 'UNAVAILABLE',
    `The controller of agent-sandbox makes no pod (${reason}): ${words(message)}.`,
    {
      operation: 'provider.create',
      provider,
      hint: isQuota
        ? 'Delete sandboxes that nobody needs, or ask for a larger quota.'
        : isPool
          ? 'Check the name of the pool in kubernetes.pods, and that it is in this namespace.'
          : 'Look at kubectl describe sandbox; then try again.',
    },
  );
}

/** No controller makes the pod. */
export function noController(provider: string, message: string): LitterboxError {
  return new LitterboxError(
    'UNAVAILABLE',
    `The controller of agent-sandbox made no pod in time${message && `: ${words(message)}`}.`,
    { operation: 'provider.create', provider, hint: 'Check that its controller runs, or leave kubernetes.pods out.' },
  );
}
