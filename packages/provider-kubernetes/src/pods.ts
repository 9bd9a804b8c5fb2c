import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, type SandboxId, SandboxId as Ids } from '@litterbox/core/provider';
import { alreadyThere } from '@litterbox/sandbox-kit';
import { AgentSandboxes } from './agent-sandbox/agent-sandboxes.ts';
import { isStatus } from './api/api-error.ts';
import { Claims, type ClaimState } from './claims.ts';
import type { KubeApi } from './api/kube-api.ts';
import { follow } from './follow.ts';
import { NO_POD, withClaim } from './with-claim.ts';
import { hopeless, noRoom, podGone, tooLate } from './pod-failures.ts';
import { ANNOTATIONS, LABELS, type PodMeta, podName, type PodState, podStateOf } from './pod-meta.ts';
import { podOf, policyOf } from './pod-spec.ts';

const POLICIES = 'apis/networking.k8s.io/v1';
/** From the pod's making until its container runs; pulling an image may take most of it. */
const RUNNING_MS = 180_000;
const LOOK_AGAIN_MS = 100;
/** How long a controller may leave a sandbox without its pod, or a pod without the labels of ours. */
const COMING_MS = 20_000;
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

/** A pod that was asked for. */
export interface AskedPod {
  readonly name: string;
  /** As the cluster described it when it was made. */
  readonly known?: unknown;
  /** A controller makes it, or gives it to us: it may not be there or not be ours yet. */
  readonly isComing?: boolean;
}

/** The pods of one namespace that are sandboxes, each with its policy, and with a claim where it has a bound of its disk. */
export class Pods {
  readonly provider: string;
  readonly #api: KubeApi;
  readonly #claims: Claims;
  readonly #agentSandboxes: AgentSandboxes;

  constructor(provider: string, api: KubeApi) {
    this.provider = provider;
    this.#api = api;
    this.#claims = new Claims(provider, api);
    this.#agentSandboxes = new AgentSandboxes(provider, api);
  }

  /**
   * Makes policy, claim and pod, in this order, or asks for a pod; {@link running} waits for it.
   *
   * @param addresses of the cluster's API, see `podOf`
   * @throws LitterboxError `ALREADY_EXISTS`; `UNSUPPORTED` where the cluster gives no volumes
   */
  async create(meta: PodMeta, addresses: readonly string[], options?: CallOptions): Promise<AskedPod> {
    const { id, limits } = meta;
    try {
      await this.#post(POLICIES, 'networkpolicies', policyOf(id, meta.repositoryId), options);
      if (limits.diskBytes !== undefined) await this.#claims.create(meta, limits.diskBytes, options);
      const pod = podOf(meta, addresses);
      if (meta.maker) return { name: await this.#agentSandboxes.create(meta, pod, options), isComing: true };
      return { name: podName(id), known: await this.#post('api/v1', 'pods', pod, options) };
    } catch (error) {
      throw isStatus(error, 409) ? alreadyThere(this.provider, id) : error;
    }
  }

  /** Asks for a policy that is not kept: namespaces may be absent, be going, or take nothing. @throws LitterboxError as the cluster says */
  async tryOut(options?: CallOptions): Promise<void> {
    const id = Ids.make();
    await this.#post(POLICIES, 'networkpolicies?dryRun=All', policyOf(id, id), options);
  }

  /** Makes the pod of a claim anew, whichever way the last one went, and waits until its container runs. */
  async restart(meta: PodMeta, addresses: readonly string[], options?: CallOptions): Promise<PodState> {
    const { id, maker } = meta;
    if (maker) await this.#agentSandboxes.operate(id, 'Running', options);
    const isGone = (await this.find(id, options))?.isGone ?? false;
    if (maker) {
      // A controller makes another one as soon as it can.
      if (isGone) await this.#delete(await this.#api.pathOf(`pods/${podName(id)}`), GRACE_SECONDS, options);
      const name = await this.#agentSandboxes.podOf(meta, options);
      return await this.running(id, { name, isComing: true }, options);
    }
    if (isGone) await this.end(id, options);
    try {
      await this.#post('api/v1', 'pods', podOf(meta, addresses), options);
    } catch (error) {
      if (!isStatus(error, 409)) throw error; // another program was faster
    }
    return await this.running(id, { name: podName(id) }, options);
  }

  /** @param name of its pod, where that is known */
  async find(id: SandboxId, options?: CallOptions, name = podName(id)): Promise<PodState | undefined> {
    const pod = await this.#pod(id, name, options);
    if (pod?.meta && pod.meta.limits.diskBytes === undefined) return pod;
    const found = withClaim(pod, await this.#claims.find(id, options));
    if (found || name !== podName(id)) return found;
    const claimed = await this.#agentSandboxes.claimed(id, options);
    return claimed === undefined ? undefined : await this.#pod(id, claimed, options);
  }

  async *list(options?: CallOptions): AsyncGenerator<PodState, void, undefined> {
    const asked = new Map(await this.#agentSandboxes.pods(options));
    const claims = new Map<SandboxId, ClaimState>();
    for await (const claim of this.#claims.list(options)) claims.set(claim.id, claim);
    for await (const pod of this.#listed(options)) {
      // Anybody may write a label: a pod of another name is ours where the claim says so.
      if (pod.name !== podName(pod.id) && asked.get(pod.id) !== pod.name) continue;
      yield withClaim(pod, claims.get(pod.id)) ?? pod;
      claims.delete(pod.id);
      asked.delete(pod.id);
    }
    for (const claim of claims.values()) {
      asked.delete(claim.id);
      const state = withClaim(undefined, claim);
      if (state) yield state;
    }
    for (const id of asked.keys()) if (Ids.is(id)) yield { ...NO_POD, id, name: podName(id), isGone: true };
  }

  /** Pods of a node that call themselves sandboxes: a namespace may have thousands, a node about a hundred. */
  async *neighbours(node: string, options?: CallOptions): AsyncGenerator<PodState, void, undefined> {
    for await (const pod of this.#listed(options, `spec.nodeName=${node}`)) {
      const hasClaim = pod.meta?.limits.diskBytes !== undefined;
      yield (hasClaim && withClaim(pod, await this.#claims.find(pod.id, options))) || pod;
    }
  }

  async *#listed(options?: CallOptions, field?: string): AsyncGenerator<PodState, void, undefined> {
    for await (const pod of this.#api.list(
      'provider.list',
      await this.#api.pathOf('pods'),
      LABELS.id,
      options,
      field,
    )) {
      const state = podStateOf(pod, this.provider);
      if (state) yield state;
    }
  }

  /**
   * Waits until the container of a pod runs.
   *
   * @throws LitterboxError `NOT_FOUND` for an image that the node cannot get; `RESOURCE_EXHAUSTED` where no node has room
   */
  async running(id: SandboxId, { name, known, isComing }: AskedPod, options?: CallOptions): Promise<PodState> {
    const begun = performance.now();
    for await (const state of this.#states(id, name, options, known, isComing)) {
      const ms = performance.now() - begun;
      if (isComing && ms < COMING_MS && (!state || state.isGone)) continue;
      if (!state || state.isGone) throw podGone(this.provider, id, state?.waiting?.message);
      if (state.isRunning) return state;
      const { reason, message } = state.waiting ?? { reason: '', message: '' };
      if (HOPELESS.test(reason)) throw hopeless(this.provider, reason, message, state);
      const isLong = ms > UNSCHEDULED_MS[state.meta?.limits.diskBytes === undefined ? 'pod' : 'claim'];
      if (/^(Unschedulable|OutOf)/.test(reason) && isLong) throw noRoom(this.provider, message);
      if (ms > RUNNING_MS) throw tooLate(this.provider, RUNNING_MS / 1000, reason, message);
    }
    throw podGone(this.provider, id);
  }

  /** Notes something where it lasts as long as the files of the sandbox do. @param name of its pod */
  async annotate(
    { id, limits }: PodMeta,
    name: string,
    annotations: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<void> {
    const hasClaim = limits.diskBytes !== undefined;
    await this.#note(
      hasClaim ? await this.#claims.pathOf(id) : await this.#api.pathOf(`pods/${name}`),
      annotations,
      options,
    );
  }

  /** Notes on a pod that a controller made that its controls hold. */
  async judge(name: string, options?: CallOptions): Promise<void> {
    await this.#note(await this.#api.pathOf(`pods/${name}`), { [ANNOTATIONS.judged]: 'yes' }, options);
  }

  async #note(
    path: string,
    annotations: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#api.ask('provider.annotate', path, {
      ...options,
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations } },
    });
  }

  /** Lets go of the pod of a sandbox whose files are on a claim, and waits until it is gone. */
  async rest({ id, maker }: PodMeta, options?: CallOptions): Promise<void> {
    if (!maker) return await this.end(id, options);
    await this.#agentSandboxes.operate(id, 'Suspended', options);
    await this.#gone(id, podName(id), options);
  }

  /** Deletes the pod, and waits until it is gone. */
  async end(id: SandboxId, options?: CallOptions, name = podName(id)): Promise<void> {
    if (await this.#delete(await this.#api.pathOf(`pods/${name}`), GRACE_SECONDS, options))
      await this.#gone(id, name, options);
  }

  async #gone(id: SandboxId, name: string, options?: CallOptions): Promise<void> {
    const pod = await this.#api.pathOf(`pods/${name}`);
    const begun = performance.now();
    for await (const state of this.#states(id, name, options)) {
      if (!state) return;
      const ms = performance.now() - begun;
      // A node may be ten seconds late to let go of what has ended, and minutes where it had not begun.
      const hasEnded = state.hasEnded || (state.isIdle && ms > BEGIN_MS);
      if (hasEnded || ms > FORGET_MS) await this.#delete(pod, 0, options);
    }
  }

  /** Deletes pod, claim and policy, and waits until the pod is gone. */
  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    const own = await this.#pod(id, podName(id), options);
    const claimed = own ? undefined : await this.#agentSandboxes.claimed(id, options);
    // A claim may name whatever it likes: only a pod that is ours goes with it.
    const pod = own ?? (claimed === undefined ? undefined : await this.#pod(id, claimed, options));
    const name = pod?.name ?? podName(id);
    if (!pod || pod.isOwned) await this.#agentSandboxes.remove(id, name, pod !== undefined, options);
    await this.end(id, options, name);
    if (await this.#delete(await this.#claims.pathOf(id), 0, options))
      while (await this.#claims.find(id, options)) await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    // Last: what still runs stays shut in.
    await this.#delete(await this.#api.pathOf(`networkpolicies/${podName(id)}`, POLICIES), 0, options);
  }

  async #pod(id: SandboxId, name: string, options?: CallOptions): Promise<PodState | undefined> {
    try {
      const found = await this.#api.ask('provider.find', await this.#api.pathOf(`pods/${name}`), { ...options });
      return this.#stateOf(id, found);
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** A pod now and whenever something happens to it; undefined once it is gone, or while it is not ours. */
  async *#states(
    id: SandboxId,
    name: string,
    options?: CallOptions,
    known?: unknown,
    isComing = false,
  ): AsyncGenerator<PodState | undefined, void, undefined> {
    const pods = await this.#api.pathOf('pods');
    for (;;) {
      for await (const found of follow(this.#api, pods, name, options, known)) yield this.#stateOf(id, found);
      if (!isComing) return;
      await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
    }
  }

  #stateOf(id: SandboxId, found: unknown): PodState | undefined {
    const state = podStateOf(found, this.provider);
    return state?.id === id ? state : undefined;
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
