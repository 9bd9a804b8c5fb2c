import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError, SandboxId, shown } from '@litterbox/core/provider';
import { alreadyThere } from '@litterbox/sandbox-kit';
import { isStatus } from './api-error.ts';
import type { KubeApi } from './kube-api.ts';
import { LABELS, type PodMeta, podName, type PodState, podStateOf } from './pod-meta.ts';
import { podOf, policyOf } from './pod-spec.ts';

const POLICIES = 'apis/networking.k8s.io/v1';
const PAGE = 500;
/** From the pod's making until its container runs; pulling an image may take most of it. */
const RUNNING_MS = 180_000;
const LOOK_AGAIN_MS = 100;
/** How long something may be in the way before it is told: the scheduler may only be waiting for a node that starts. */
const UNSCHEDULED_MS = 8_000;
/** Words of the kubelet that no waiting mends. */
const HOPELESS =
  /^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|CreateContainerConfigError|CreateContainerError|RunContainerError|CrashLoopBackOff)$/;
/** With 0 the cluster would forget a pod whose programs still run, and its policy would go before them. */
const GRACE_SECONDS = 1;
/** By then a node that has heard of the end starts nothing of the pod any more. */
const BEGIN_MS = 3_000;
/** A node that is gone never says that its pod has ended. */
const FORGET_MS = 60_000;
const deletion = (gracePeriodSeconds: number) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  gracePeriodSeconds,
  propagationPolicy: 'Background',
});

/** The pods of one namespace that are sandboxes, each with its policy. */
export class Pods {
  readonly provider: string;
  readonly #api: KubeApi;

  constructor(provider: string, api: KubeApi) {
    this.provider = provider;
    this.#api = api;
  }

  /**
   * Makes policy and pod, in this order, and waits until its container runs.
   *
   * @throws LitterboxError `ALREADY_EXISTS`; `NOT_FOUND` for an image that the node cannot get; `RESOURCE_EXHAUSTED` where no node has room
   */
  async create(meta: PodMeta, options?: CallOptions): Promise<PodState> {
    await this.#post(POLICIES, 'networkpolicies', policyOf(meta.id, meta.repositoryId), meta.id, options);
    await this.#post('api/v1', 'pods', podOf(meta), meta.id, options);
    return await this.running(meta.id, options);
  }

  async find(id: SandboxId, options?: CallOptions): Promise<PodState | undefined> {
    try {
      const path = await this.#api.pathOf(`pods/${podName(id)}`);
      return podStateOf(await this.#api.ask('provider.find', path, { ...options }), this.provider);
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async *list(options?: CallOptions): AsyncGenerator<PodState, void, undefined> {
    let next = '';
    do {
      const query = new URLSearchParams({
        labelSelector: LABELS.id,
        limit: String(PAGE),
        ...(next && { continue: next }),
      });
      const answer = await this.#api.ask('provider.list', `${await this.#api.pathOf('pods')}?${query.toString()}`, {
        ...options,
      });
      const { items, metadata } = (answer ?? {}) as {
        readonly items?: unknown;
        readonly metadata?: { readonly continue?: unknown };
      };
      for (const pod of Array.isArray(items) ? items : []) {
        const state = podStateOf(pod, this.provider);
        if (state) yield state;
      }
      next = typeof metadata?.continue === 'string' ? metadata.continue : '';
    } while (next !== '');
  }

  /** Waits until the container of a pod that is there runs. */
  async running(id: SandboxId, options?: CallOptions): Promise<PodState> {
    const begun = performance.now();
    for (;;) {
      const state = await this.find(id, options);
      if (!state || state.isOver) throw this.#gone(id, state?.waiting?.message);
      if (state.isRunning) return state;
      const { reason, message } = state.waiting ?? { reason: '', message: '' };
      const ms = performance.now() - begun;
      if (HOPELESS.test(reason)) throw this.#hopeless(reason, message, state);
      if (/^(Unschedulable|OutOf)/.test(reason) && ms > UNSCHEDULED_MS) throw this.#noRoom(message);
      if (ms > RUNNING_MS) throw this.#late(reason, message);
      await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    }
  }

  async annotate(
    id: SandboxId,
    annotations: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#api.ask('provider.annotate', await this.#api.pathOf(`pods/${podName(id)}`), {
      ...options,
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations } },
    });
  }

  /** Deletes pod and policy, and waits until both are gone. */
  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    const name = podName(id);
    const pod = await this.#api.pathOf(`pods/${name}`);
    const begun = performance.now();
    if (await this.#delete(pod, GRACE_SECONDS, options))
      for (let state = await this.find(id, options); state; state = await this.find(id, options)) {
        const ms = performance.now() - begun;
        // A node may be ten seconds late to let go of what has ended, and minutes where it had not begun.
        const hasEnded = state.hasEnded || (state.isIdle && ms > BEGIN_MS);
        if (hasEnded || ms > FORGET_MS) await this.#delete(pod, 0, options);
        await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
      }
    // Last: what still runs stays shut in.
    await this.#delete(await this.#api.pathOf(`networkpolicies/${name}`, POLICIES), 0, options);
  }

  /** @returns whether there was something to delete */
  async #delete(path: string, graceSeconds: number, options?: CallOptions): Promise<boolean> {
    try {
      await this.#api.ask('provider.remove', path, { ...options, method: 'DELETE', body: deletion(graceSeconds) });
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      if (isStatus(error, 409)) return true; // it is being changed
      throw error;
    }
  }

  async #post(group: string, kind: string, body: object, id: SandboxId, options?: CallOptions): Promise<void> {
    try {
      const path = await this.#api.pathOf(kind, group);
      await this.#api.ask('provider.create', path, { ...options, method: 'POST', body });
    } catch (error) {
      throw isStatus(error, 409) ? alreadyThere(this.provider, id) : error;
    }
  }

  #gone(id: SandboxId, reason = ''): LitterboxError {
    return new LitterboxError('SANDBOX_BROKEN', `The pod ${podName(id)} has ended${reason && `: ${shown(reason)}`}.`, {
      operation: 'provider.start',
      provider: this.provider,
      hint: 'Its node may have failed or evicted it: recover the sandbox from its recorded revisions.',
    });
  }

  #hopeless(reason: string, message: string, { meta }: PodState): LitterboxError {
    const isImage = /Image/.test(reason);
    return new LitterboxError(
      isImage ? 'NOT_FOUND' : 'UNAVAILABLE',
      isImage
        ? `The cluster cannot get the image ${shown(meta?.image ?? '')} (${reason}): ${shown(message)}.`
        : `The container does not start (${reason}): ${shown(message)}.`,
      {
        operation: 'provider.create',
        provider: this.provider,
        hint: isImage
          ? 'Check its name in container.base-image, and whether the nodes may pull it.'
          : 'The image needs /bin/sh, mkdir, env and tar; look at kubectl describe pod.',
      },
    );
  }

  #noRoom(message: string): LitterboxError {
    return new LitterboxError('RESOURCE_EXHAUSTED', `No node of the cluster takes the pod: ${shown(message)}.`, {
      operation: 'provider.create',
      provider: this.provider,
      hint: 'Delete sandboxes that nobody needs, or add a node.',
    });
  }

  #late(reason: string, message: string): LitterboxError {
    return new LitterboxError(
      'TIMED_OUT',
      `The pod did not run within ${RUNNING_MS / 1000} seconds${reason && ` (${reason}: ${shown(message)})`}.`,
      { operation: 'provider.create', provider: this.provider, hint: 'Look at kubectl describe pod; then try again.' },
    );
  }
}
