import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, isLitterboxError, type SandboxId } from '@litterbox/core/provider';
import { alreadyThere } from '@litterbox/sandbox-kit';
import { isStatus } from './api/api-error.ts';
import { Claims, type ClaimState } from './claims.ts';
import type { KubeApi } from './api/kube-api.ts';
import { hopeless, noRoom, podGone, tooLate } from './pod-failures.ts';
import { LABELS, type PodMeta, podName, type PodState, podStateOf } from './pod-meta.ts';
import { podOf, policyOf } from './pod-spec.ts';

const POLICIES = 'apis/networking.k8s.io/v1';
/** From the pod's making until its container runs; pulling an image may take most of it. */
const RUNNING_MS = 180_000;
const LOOK_AGAIN_MS = 100;
/** So often a pod that nothing is heard of is looked at. */
const WATCH_MS = 3_000;
/** How long something may be in the way before it is told: the scheduler may only be waiting for a node that starts, or for a volume. */
const UNSCHEDULED_MS = { pod: 8_000, claim: 60_000 };
/** Words of the kubelet that no waiting mends. */
const HOPELESS =
  /^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|CreateContainerConfigError|CreateContainerError|PostStartHookError|RunContainerError|CrashLoopBackOff)$/;
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

/** The pods of one namespace that are sandboxes, each with its policy, and with a claim where it has a bound of its disk. */
export class Pods {
  readonly provider: string;
  readonly #api: KubeApi;
  readonly #claims: Claims;

  constructor(provider: string, api: KubeApi) {
    this.provider = provider;
    this.#api = api;
    this.#claims = new Claims(provider, api);
  }

  /**
   * Makes policy, claim and pod, in this order; {@link running} waits for it.
   *
   * @param addresses of the cluster's API, see `podOf`
   * @throws LitterboxError `ALREADY_EXISTS`; `UNSUPPORTED` where the cluster gives no volumes
   */
  async create(meta: PodMeta, addresses: readonly string[], options?: CallOptions): Promise<PodState | undefined> {
    const { id, limits } = meta;
    try {
      await this.#post(POLICIES, 'networkpolicies', policyOf(id, meta.repositoryId), options);
      if (limits.diskBytes !== undefined) await this.#claims.create(meta, limits.diskBytes, options);
      const answer = await this.#post('api/v1', 'pods', podOf(meta, addresses), options);
      return podStateOf(answer, this.provider);
    } catch (error) {
      throw isStatus(error, 409) ? alreadyThere(this.provider, id) : error;
    }
  }

  /** Makes the pod of a claim anew, whichever way the last one went, and waits until its container runs. */
  async restart(meta: PodMeta, addresses: readonly string[], options?: CallOptions): Promise<PodState> {
    if ((await this.find(meta.id, options))?.isGone) await this.end(meta.id, options);
    try {
      await this.#post('api/v1', 'pods', podOf(meta, addresses), options);
    } catch (error) {
      if (!isStatus(error, 409)) throw error; // another program was faster
    }
    return await this.running(meta.id, undefined, options);
  }

  async find(id: SandboxId, options?: CallOptions): Promise<PodState | undefined> {
    const pod = await this.#pod(id, options);
    if (pod?.meta && pod.meta.limits.diskBytes === undefined) return pod;
    return withClaim(pod, await this.#claims.find(id, options));
  }

  async *list(options?: CallOptions): AsyncGenerator<PodState, void, undefined> {
    const claims = new Map<SandboxId, ClaimState>();
    for await (const claim of this.#claims.list(options)) claims.set(claim.id, claim);
    for await (const pod of this.#api.list('provider.list', await this.#api.pathOf('pods'), LABELS.id, options)) {
      const state = podStateOf(pod, this.provider);
      const whole = state && withClaim(state, claims.get(state.id));
      if (whole) yield whole;
      if (state) claims.delete(state.id);
    }
    for (const claim of claims.values()) {
      const state = withClaim(undefined, claim);
      if (state) yield state;
    }
  }

  /**
   * Waits until the container of a pod that is there runs.
   *
   * @param known how it was found a moment ago
   * @throws LitterboxError `NOT_FOUND` for an image that the node cannot get; `RESOURCE_EXHAUSTED` where no node has room
   */
  async running(id: SandboxId, known?: PodState, options?: CallOptions): Promise<PodState> {
    const begun = performance.now();
    for await (const state of this.#states(id, known, options)) {
      if (!state || state.isGone) throw podGone(this.provider, id, state?.waiting?.message);
      if (state.isRunning) return state;
      const { reason, message } = state.waiting ?? { reason: '', message: '' };
      const ms = performance.now() - begun;
      if (HOPELESS.test(reason)) throw hopeless(this.provider, reason, message, state);
      const isLong = ms > UNSCHEDULED_MS[state.meta?.limits.diskBytes === undefined ? 'pod' : 'claim'];
      if (/^(Unschedulable|OutOf)/.test(reason) && isLong) throw noRoom(this.provider, message);
      if (ms > RUNNING_MS) throw tooLate(this.provider, RUNNING_MS / 1000, reason, message);
    }
    throw podGone(this.provider, id);
  }

  /** Notes something where it lasts as long as the sandbox. */
  async annotate(
    { id, limits }: PodMeta,
    annotations: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<void> {
    const hasClaim = limits.diskBytes !== undefined;
    const path = hasClaim ? await this.#claims.pathOf(id) : await this.#api.pathOf(`pods/${podName(id)}`);
    await this.#api.ask('provider.annotate', path, {
      ...options,
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations } },
    });
  }

  /** Deletes the pod, and waits until it is gone. */
  async end(id: SandboxId, options?: CallOptions): Promise<void> {
    const pod = await this.#api.pathOf(`pods/${podName(id)}`);
    const begun = performance.now();
    if (!(await this.#delete(pod, GRACE_SECONDS, options))) return;
    for await (const state of this.#states(id, undefined, options)) {
      if (!state) return;
      const ms = performance.now() - begun;
      // A node may be ten seconds late to let go of what has ended, and minutes where it had not begun.
      const hasEnded = state.hasEnded || (state.isIdle && ms > BEGIN_MS);
      if (hasEnded || ms > FORGET_MS) await this.#delete(pod, 0, options);
    }
  }

  /** Deletes pod, claim and policy, and waits until the pod is gone. */
  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    await this.end(id, options);
    if (await this.#delete(await this.#claims.pathOf(id), 0, options))
      while (await this.#claims.find(id, options)) await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    // Last: what still runs stays shut in.
    await this.#delete(await this.#api.pathOf(`networkpolicies/${podName(id)}`, POLICIES), 0, options);
  }

  async #pod(id: SandboxId, options?: CallOptions): Promise<PodState | undefined> {
    try {
      const path = await this.#api.pathOf(`pods/${podName(id)}`);
      return podStateOf(await this.#api.ask('provider.find', path, { ...options }), this.provider);
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /**
   * A pod now and whenever something happens to it, every few seconds in any case; undefined once it is gone. Where the cluster lets nobody
   * watch, it is asked again and again.
   */
  async *#states(
    id: SandboxId,
    known: PodState | undefined,
    options?: CallOptions,
  ): AsyncGenerator<PodState | undefined, void, undefined> {
    for (let state = known ?? (await this.#pod(id, options)); ; state = await this.#pod(id, options)) {
      yield state;
      if (!state) return;
      try {
        for await (const event of this.#api.watch('provider.watch', await this.#watchPath(state), WATCH_MS, options)) {
          const { type, object } = event as { readonly type?: unknown; readonly object?: unknown };
          if (type === 'DELETED') return yield undefined;
          const next = podStateOf(object, this.provider);
          if (type !== 'MODIFIED' || next?.id !== id) break; // an error, such as a version that is too old
          yield next;
        }
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!isLitterboxError(error)) throw error;
      }
      await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    }
  }

  async #watchPath({ id, version }: PodState): Promise<string> {
    const query = new URLSearchParams({
      watch: '1',
      fieldSelector: `metadata.name=${podName(id)}`,
      timeoutSeconds: String(WATCH_MS / 1000),
      ...(version && { resourceVersion: version }),
    });
    return `${await this.#api.pathOf('pods')}?${query.toString()}`;
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

  async #post(group: string, kind: string, body: object, options?: CallOptions): Promise<unknown> {
    const path = await this.#api.pathOf(kind, group);
    return await this.#api.ask('provider.create', path, { ...options, method: 'POST', body });
  }
}

const NO_POD = { isRunning: false, hasEnded: false, isIdle: true, waiting: undefined, node: '', spec: {}, version: '' };

/** A claim counts more than its pod: pods of it come and go. */
function withClaim(pod: PodState | undefined, claim: ClaimState | undefined): PodState | undefined {
  if (!claim) return pod;
  return { ...(pod ?? { ...NO_POD, isGone: true }), ...claim, hasClaim: true };
}
