import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError, type SandboxId } from '@litterbox/core/provider';
import { isStatus } from '../api/api-error.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { follow } from '../follow.ts';
import { cannotMake, noController } from '../pod-failures.ts';
import { list, object, text } from '../api/untrusted.ts';
import { poolOf } from './makers.ts';
import { ANNOTATIONS, isObjectName, LABELS, type PodMeta, podName } from '../pod-meta.ts';

/** @see https://github.com/kubernetes-sigs/agent-sandbox, `api/v1beta1` and `extensions/api/v1beta1` */
const SANDBOXES = { group: 'apis/agents.x-k8s.io/v1beta1', kind: 'sandboxes' } as const;
const CLAIMS = { group: 'apis/extensions.agents.x-k8s.io/v1beta1', kind: 'sandboxclaims' } as const;
type Kind = typeof SANDBOXES | typeof CLAIMS;
const POD_NAME = 'agents.x-k8s.io/pod-name';

/** A controller that runs answers in less; of a pool that is empty it makes a sandbox anew. */
const ANSWER_MS = 6_000;
const LOOK_AGAIN_MS = 100;
/** How long it may say that it failed: it tries again by itself. */
const FAILING_MS = 3_000;
/** Reasons of the condition `Ready` that no waiting mends. */
const HOPELESS =
  /^(WarmPoolNotFound|TemplateNotFound|InvalidMetadata|EnvVarsInjectionRejected|VolumeClaimTemplatesError)$/;
/** Reasons of one that is made by and by. */
const ON_ITS_WAY =
  /^(|DependenciesNotReady|SandboxNotReady|SandboxMissing|AdoptionConflict|SandboxCreatePending|SandboxSuspended|PodScheduling.*)$/;

/** An object of ours, as the controller of agent-sandbox answers it. */
interface Answer {
  /** The pod that it made or gave; it may not be there yet. */
  readonly pod: string | undefined;
  readonly reason: string;
  readonly message: string;
}

/** Objects of agent-sandbox in one namespace: the pods of their sandboxes are made by a controller of the cluster. */
export class AgentSandboxes {
  readonly #provider: string;
  readonly #api: KubeApi;

  constructor(provider: string, api: KubeApi) {
    this.#provider = provider;
    this.#api = api;
  }

  /**
   * Asks the controller for a pod, or its pool for one that runs.
   *
   * @param pod as `podOf` describes it, for who makes one
   * @returns the name of the pod, which may not be there yet
   * @throws LitterboxError `UNSUPPORTED` where the cluster has no agent-sandbox, or its controller does not answer; `NOT_FOUND` for a pool that there
   *   is not
   */
  async create(
    meta: PodMeta,
    pod: { readonly metadata: object; readonly spec: object },
    options?: CallOptions,
  ): Promise<string> {
    const pool = poolOf(meta.maker);
    const labels = { [LABELS.id]: meta.id, [LABELS.repository]: meta.repositoryId };
    const podMetadata = { labels, annotations: { [ANNOTATIONS.meta]: JSON.stringify(meta) } };
    const metadata = { name: podName(meta.id), labels };
    if (pool === undefined)
      await this.#post(
        SANDBOXES,
        'Sandbox',
        {
          metadata,
          spec: { podTemplate: { metadata: podMetadata, spec: pod.spec }, service: false, operatingMode: 'Running' },
        },
        options,
      );
    else
      await this.#post(
        CLAIMS,
        'SandboxClaim',
        {
          metadata,
          spec: { warmPoolRef: { name: pool }, additionalPodMetadata: podMetadata },
        },
        options,
      );
    return await this.podOf(meta, options);
  }

  /** Waits until the controller says which pod it has for a sandbox. @throws LitterboxError as {@link create} */
  async podOf(meta: PodMeta, options?: CallOptions): Promise<string> {
    const kind = poolOf(meta.maker) === undefined ? SANDBOXES : CLAIMS;
    const begun = performance.now();
    let failing: number | undefined;
    let last: Answer | undefined;
    for await (const found of follow(
      this.#api,
      await this.#api.pathOf(kind.kind, kind.group),
      podName(meta.id),
      options,
    )) {
      last = answerOf(found);
      if (last.pod !== undefined) return last.pod;
      const now = performance.now();
      failing = ON_ITS_WAY.test(last.reason) ? undefined : (failing ?? now);
      const isHopeless = HOPELESS.test(last.reason) || (failing !== undefined && now - failing > FAILING_MS);
      if (isHopeless) throw cannotMake(this.#provider, last.reason, last.message);
      if (now - begun > ANSWER_MS) break;
    }
    throw noController(this.#provider, last?.message ?? '');
  }

  /** Lets the controller take the pod of a sandbox away, or bring it back. */
  async operate(id: SandboxId, operatingMode: 'Running' | 'Suspended', options?: CallOptions): Promise<void> {
    await this.#api.ask('runtime.operate', await this.#path(SANDBOXES, id), {
      ...options,
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { spec: { operatingMode } },
    });
  }

  /** The pod of a claim; undefined where there is no such claim, or it has none. */
  async claimed(id: SandboxId, options?: CallOptions): Promise<string | undefined> {
    const found = await this.#unlessAbsent(async () =>
      this.#api.ask('provider.find', await this.#path(CLAIMS, id), { ...options }),
    );
    return found === undefined ? undefined : answerOf(found).pod;
  }

  /** Sandboxes of the namespace that a controller makes pods for, each with the name of its pod. */
  async pods(options?: CallOptions): Promise<ReadonlyMap<string, string | undefined>> {
    const found = new Map<string, string | undefined>();
    for (const kind of [SANDBOXES, CLAIMS])
      await this.#unlessAbsent(async () => {
        const path = await this.#api.pathOf(kind.kind, kind.group);
        for await (const one of this.#api.list('provider.list', path, LABELS.id, options)) {
          const { name, labels } = object(object(one)['metadata']);
          const id = text(object(labels)[LABELS.id]);
          if (name === podName(id as SandboxId)) found.set(id, kind === CLAIMS ? answerOf(one).pod : text(name));
        }
      });
    return found;
  }

  /**
   * Deletes what the controller has of a sandbox, so that it makes no pod again. The pod itself may be there still.
   *
   * @param pod its name
   * @param isThere one of its pods was seen: that its objects cannot be seen is an error then
   */
  async remove(id: SandboxId, pod: string, isThere: boolean, options?: CallOptions): Promise<void> {
    await this.#delete(await this.#path(CLAIMS, id), isThere, options);
    await this.#delete(await this.#api.pathOf(`${SANDBOXES.kind}/${pod}`, SANDBOXES.group), isThere, options);
  }

  async #delete(path: string, isThere: boolean, options?: CallOptions): Promise<void> {
    await this.#unlessAbsent(async () => {
      await this.#api.ask('provider.remove', path, {
        ...options,
        method: 'DELETE',
        body: { propagationPolicy: 'Background' },
      });
      // Until it is gone its controller may make another pod.
      for (;;) {
        await this.#api.ask('provider.remove', path, { ...options });
        await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
      }
    }, isThere);
  }

  async #post(kind: Kind, title: string, body: object, options?: CallOptions): Promise<void> {
    try {
      await this.#api.ask('provider.create', await this.#api.pathOf(kind.kind, kind.group), {
        ...options,
        method: 'POST',
        body: { apiVersion: kind.group.slice('apis/'.length), kind: title, ...body },
      });
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      throw new LitterboxError(
        'UNSUPPORTED',
        `The cluster has no agent-sandbox: it knows no ${title} of ${kind.group.slice(5)}.`,
        {
          operation: 'provider.create',
          provider: this.#provider,
          hint: 'Ask who runs the cluster to install it, or leave kubernetes.pods out.',
        },
      );
    }
  }

  async #path({ kind, group }: Kind, id: SandboxId): Promise<string> {
    return await this.#api.pathOf(`${kind}/${podName(id)}`, group);
  }

  /** Most clusters have no agent-sandbox. Who may not see its objects has made none: one right comes with the other. */
  async #unlessAbsent<Found>(ask: () => Promise<Found>, isThere = false): Promise<Found | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (isStatus(error, 404) || (isStatus(error, 403) && !isThere)) return undefined;
      throw error;
    }
  }
}

/** Reads an object of agent-sandbox as hostile text. */
function answerOf(found: unknown): Answer {
  const { metadata, status } = object(found);
  const { conditions, sandbox } = object(status);
  const pod = text(object(sandbox)['name']) || text(object(object(metadata)['annotations'])[POD_NAME]);
  const ready = list(conditions)
    .map(object)
    .find(({ type }) => type === 'Ready');
  return {
    pod: isObjectName(pod) ? pod : undefined,
    reason: text(ready?.['reason']).slice(0, 100),
    message: text(ready?.['message']).slice(0, 500),
  };
}
