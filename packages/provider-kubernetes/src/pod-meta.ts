import {
  type ChangeMark,
  isLitterboxError,
  type ResourceUsage,
  type SandboxId,
  SandboxId as Ids,
} from '@litterbox/core/provider';
import { type DirectoryDescription, isDirectoryDescription, isObjectOf } from '@litterbox/linux-sandbox';
import { parseDescription } from '@litterbox/sandbox-kit';
import { list, object, text } from './api/untrusted.ts';
import { isMaker, type Maker } from './agent-sandbox/makers.ts';

/** Labels that find the things of a sandbox in a namespace, and name its repository. */
export const LABELS = { id: 'litterbox.dev/id', repository: 'litterbox.dev/repository' } as const;
export const ANNOTATIONS = {
  /** {@link PodMeta}, as JSON. */
  meta: 'litterbox.dev/sandbox',
  /** There once everything of the sandbox has been made: {@link MadePod}, as JSON. */
  made: 'litterbox.dev/made',
  /** `stopped`, while a person has stopped it. */
  rest: 'litterbox.dev/rest',
  /** Processor time of its pods that have gone, in milliseconds; a plus behind it where one went uncounted. */
  time: 'litterbox.dev/processor-time',
  /** On a pod that a controller made: its controls have been looked at, and hold. */
  judged: 'litterbox.dev/judged',
} as const;

/** How all objects of a sandbox are called, but for a pod that was taken from a pool. */
export const podName = (id: SandboxId): string => `litterbox-${id}`;

/** Description of a sandbox, decided at `create`, in its pod's annotations. */
export interface PodMeta extends DirectoryDescription {
  readonly image: string;
  /** Number of user and group of its programs: no other pod of the node has the same, but for those of pools. */
  readonly user: number;
  /** The maker of its pod. Absent: Litterbox. */
  readonly maker?: Maker;
}

/** No kernel has more. @see https://www.kernel.org/doc/html/latest/admin-guide/kernel-parameters.html nr_cpus */
const MAX_PROCESSORS = 8192;

/** Facts that were found once it ran. */
export interface MadePod {
  /** From this moment on counts what changes: what is older is the base's. */
  readonly firstMark: ChangeMark;
  /** The environment that the image gives, without names that give orders to programs. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Numbers of the node's processors that its programs are bound to. */
  readonly processors: readonly number[];
  /** The image has Perl, and a container beside that carries bytes of ports by it. */
  readonly hasPorts?: true;
}

/** A sandbox as annotations describe it. */
export interface NotedSandbox {
  readonly meta: PodMeta | undefined;
  readonly made: MadePod | undefined;
  readonly isStopped: boolean;
  /** Used by those of its pods that have gone. */
  readonly gone: Pick<ResourceUsage, 'cpuMs' | 'isCpuLeast'>;
}

/** A sandbox as a cluster describes its pod, and its claim where it has one, as far as that is used. */
export interface PodState extends NotedSandbox {
  readonly id: SandboxId;
  /** Name of its pod. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** A controller of agent-sandbox made the pod, and makes it again. */
  readonly isOwned: boolean;
  /** The controls of this very pod have been looked at, where {@link isOwned}. */
  readonly isJudged: boolean;
  /** A claim has its files. They outlive the pod, which may be gone or be over. */
  readonly hasClaim: boolean;
  /** There is no pod, or none that can run again. */
  readonly isGone: boolean;
  readonly isRunning: boolean;
  /** It is being deleted, or has ended for ever. */
  readonly isOver: boolean;
  /** It is being deleted, and its node says that no program of it runs any more. */
  readonly hasEnded: boolean;
  /** None of its containers runs: they have ended, or never began. */
  readonly isIdle: boolean;
  /** Why its container does not run: the cluster's word and text. */
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  /** The node that it is on; empty before it has one. */
  readonly node: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A name of RFC 1123, which stands in paths as it is. */
export const isObjectName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);

/** Reads a pod as hostile text; undefined for one that is none of ours. A pod of a pool has a name of its own: who asks compares it with the claim. */
export function podStateOf(pod: unknown, provider: string): PodState | undefined {
  const { metadata, spec, status } = object(pod);
  const { labels, annotations, deletionTimestamp, ownerReferences, ...meta } = object(metadata);
  const name = text(meta['name']);
  const id = text(object(labels)[LABELS.id]);
  const isOwned = list(ownerReferences)
    .map(object)
    .some(({ kind, controller }) => kind === 'Sandbox' && controller === true);
  if (!Ids.is(id) || (name !== podName(id) && !(isOwned && isObjectName(name)))) return undefined;
  const { phase, containerStatuses, conditions } = object(status);
  const own = object(list(containerStatuses).find((one) => object(one)['name'] === 'sandbox'));
  const waitings = list(containerStatuses).map((one) => object(object(object(one)['state'])['waiting']));
  const waiting = waitings.find(({ reason }) => text(reason) !== '' && reason !== 'ContainerCreating');
  const unscheduled = list(conditions)
    .map(object)
    .find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  const why = waiting ?? unscheduled;
  return {
    id,
    name,
    labels: isObjectOf(labels, (one) => typeof one === 'string') ? (labels as PodState['labels']) : {},
    isOwned,
    isJudged: object(annotations)[ANNOTATIONS.judged] === 'yes',
    ...noted(annotations, id, provider),
    hasClaim: false,
    isGone: deletionTimestamp !== undefined || phase === 'Failed' || phase === 'Succeeded',
    isRunning: phase === 'Running' && object(object(own)['state'])['running'] !== undefined && !deletionTimestamp,
    isOver: deletionTimestamp !== undefined || phase === 'Failed' || phase === 'Succeeded',
    hasEnded:
      deletionTimestamp !== undefined &&
      list(containerStatuses).length > 0 &&
      list(containerStatuses).every((one) => object(object(one)['state'])['terminated'] !== undefined),
    isIdle: list(containerStatuses).every((one) => object(object(one)['state'])['running'] === undefined),
    waiting: why && { reason: text(why['reason']).slice(0, 100), message: text(why['message']).slice(0, 500) },
    node: text(object(spec)['nodeName']),
    spec: object(spec),
  };
}

/** The annotation of a time. */
export const timeNote = ({ cpuMs = 0, isCpuLeast }: NotedSandbox['gone']): string =>
  `${Math.round(cpuMs)}${isCpuLeast ? '+' : ''}`;

function timeOf(note: string): NotedSandbox['gone'] {
  const [, digits, more] = /^(\d{1,15})(\+?)$/.exec(note) ?? [];
  return digits === undefined ? {} : { cpuMs: Number(digits), ...(more && { isCpuLeast: true }) };
}

/** Reads annotations as hostile text. */
export function noted(annotations: unknown, id: SandboxId, provider: string): NotedSandbox {
  const notes = object(annotations);
  return {
    meta: metaOf(text(notes[ANNOTATIONS.meta]), id, provider),
    made: madeOf(text(notes[ANNOTATIONS.made])),
    isStopped: notes[ANNOTATIONS.rest] === 'stopped',
    gone: timeOf(text(notes[ANNOTATIONS.time])),
  };
}

function metaOf(json: string, id: SandboxId, provider: string): PodMeta | undefined {
  try {
    const meta = parseDescription<PodMeta>(new TextEncoder().encode(json), ANNOTATIONS.meta, provider, 'the cluster');
    const { image, user, maker } = object(meta);
    const isWhole =
      meta.id === id &&
      isDirectoryDescription(meta as unknown as Parameters<typeof isDirectoryDescription>[0]) &&
      typeof image === 'string' &&
      Number.isSafeInteger(user) &&
      Number(user) > 0 &&
      (maker === undefined || isMaker(maker));
    return isWhole ? meta : undefined;
  } catch (error) {
    if (!isLitterboxError(error, 'SANDBOX_BROKEN')) throw error;
    return undefined;
  }
}

function madeOf(json: string): MadePod | undefined {
  try {
    const { firstMark, imageEnvironment, processors, hasPorts } = object(JSON.parse(json));
    const isWhole =
      typeof firstMark === 'string' &&
      isObjectOf(imageEnvironment, (one) => typeof one === 'string') &&
      Array.isArray(processors) &&
      processors.every((one) => Number.isSafeInteger(one) && Number(one) >= 0 && Number(one) < MAX_PROCESSORS);
    return isWhole
      ? {
          firstMark,
          imageEnvironment: imageEnvironment as MadePod['imageEnvironment'],
          processors: processors as MadePod['processors'],
          ...(hasPorts === true && { hasPorts }),
        }
      : undefined;
  } catch {
    return undefined;
  }
}
