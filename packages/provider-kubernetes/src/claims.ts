import { type CallOptions, LitterboxError, type SandboxId, SandboxId as Ids } from '@litterbox/core/provider';
import { isStatus } from './api/api-error.ts';
import type { KubeApi } from './api/kube-api.ts';
import { ANNOTATIONS, LABELS, type NotedSandbox, noted, type PodMeta, podName } from './pod-meta.ts';

const KIND = 'persistentvolumeclaims';

/** A claim of a volume for what a sandbox writes: it outlives the pod, so its annotations say what the sandbox is. */
export interface ClaimState extends NotedSandbox {
  readonly id: SandboxId;
  /** It is being deleted. */
  readonly isOver: boolean;
}

/** The claims of one namespace that are of sandboxes with a bound of their disk. */
export class Claims {
  readonly #provider: string;
  readonly #api: KubeApi;

  constructor(provider: string, api: KubeApi) {
    this.#provider = provider;
    this.#api = api;
  }

  /** @throws LitterboxError `UNSUPPORTED` where the cluster has no class of storage for who names none */
  async create(meta: PodMeta, diskBytes: number, options?: CallOptions): Promise<void> {
    const answer = await this.#api.ask('provider.create', await this.#api.pathOf(KIND), {
      ...options,
      method: 'POST',
      body: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: podName(meta.id),
          labels: { [LABELS.id]: meta.id, [LABELS.repository]: meta.repositoryId },
          annotations: { [ANNOTATIONS.meta]: JSON.stringify(meta) },
        },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: String(diskBytes) } } },
      },
    });
    const { spec } = (answer ?? {}) as { readonly spec?: { readonly storageClassName?: unknown } };
    if (spec?.storageClassName) return;
    throw new LitterboxError(
      'UNSUPPORTED',
      'The cluster has no default class of storage, so limits.disk cannot hold.',
      {
        operation: 'provider.create',
        provider: this.#provider,
        hint: 'Ask who runs the cluster to mark one as the default, or leave limits.disk out.',
      },
    );
  }

  async find(id: SandboxId, options?: CallOptions): Promise<ClaimState | undefined> {
    try {
      const path = await this.#api.pathOf(`${KIND}/${podName(id)}`);
      return claimStateOf(await this.#api.ask('provider.find', path, { ...options }), this.#provider);
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async *list(options?: CallOptions): AsyncGenerator<ClaimState, void, undefined> {
    for await (const claim of this.#api.list('provider.list', await this.#api.pathOf(KIND), LABELS.id, options)) {
      const state = claimStateOf(claim, this.#provider);
      if (state) yield state;
    }
  }

  async pathOf(id: SandboxId): Promise<string> {
    return await this.#api.pathOf(`${KIND}/${podName(id)}`);
  }
}

/** Reads a claim as hostile text; undefined for one that is none of ours. */
function claimStateOf(claim: unknown, provider: string): ClaimState | undefined {
  const { metadata } = (claim ?? {}) as { readonly metadata?: Readonly<Record<string, unknown>> };
  const id = (metadata?.['labels'] as Readonly<Record<string, unknown>> | undefined)?.[LABELS.id];
  if (typeof id !== 'string' || !Ids.is(id) || metadata?.['name'] !== podName(id)) return undefined;
  return { id, isOver: metadata['deletionTimestamp'] !== undefined, ...noted(metadata['annotations'], id, provider) };
}
