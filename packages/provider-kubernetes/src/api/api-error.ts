import { isLitterboxError, LitterboxError, shown } from '@litterbox/core/provider';
import { words } from './untrusted.ts';

/** An answer of an API server that is no success. Its words are untrusted text. */
export class ApiFailure extends Error {
  readonly status: number;
  /** `AlreadyExists`, `Expired`; empty where the answer is none of the API's. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message.slice(0, 1000));
    this.status = status;
    this.reason = reason.slice(0, 100);
  }
}

/** Whether the same may work in a moment. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 429 || error.status >= 500);

export const isStatus = (error: unknown, status: number): boolean =>
  isLitterboxError(error) && error.details.facts?.['status'] === status;

/** Where somebody asked. */
export interface Asked {
  readonly provider: string;
  readonly context: string;
  readonly namespace: string;
  readonly server: string;
}

/** The error, for whoever asked, of a question that failed. */
export function apiError(asked: Asked, operation: string, error: unknown): LitterboxError {
  if (error instanceof LitterboxError) return error;
  const details = { operation, provider: asked.provider };
  const cluster = `The cluster of the context ${shown(asked.context)}`;
  if (!(error instanceof ApiFailure)) {
    const why = error instanceof Error ? (nodeCode(error) ?? error.message) : String(error);
    return new LitterboxError(
      'UNAVAILABLE',
      `${cluster} cannot be reached at ${shown(asked.server)}: ${words(why)}.`,
      {
        ...details,
        hint: 'Check that the cluster runs, that this machine is in its network, and that the kubeconfig is the right one.',
      },
      { cause: error },
    );
  }
  const { status } = error;
  const [code, message, hint] = meaningOf(asked, error, cluster);
  return new LitterboxError(code, message, { ...details, hint, facts: { status } }, { cause: error });
}

function meaningOf(
  { namespace, context }: Asked,
  { status, message }: ApiFailure,
  cluster: string,
): readonly [LitterboxError['code'], string, string] {
  const reason = words(message);
  if (status === 401)
    return [
      'PERMISSION_DENIED',
      `${cluster} does not know who asks: the token or certificate has expired, or is another cluster's (401).`,
      `Log in to the cluster again, then try kubectl --context ${shown(context)} auth can-i create pods.`,
    ];
  if (status === 403 && /exceeded quota|limited by quota/i.test(message))
    return [
      'RESOURCE_EXHAUSTED',
      `The quota of the namespace ${shown(namespace)} is used up: ${reason}.`,
      'Delete sandboxes that nobody needs, set limits.memory, limits.cpus or limits.disk lower, or ask for a larger quota.',
    ];
  if (status === 403 && /being terminated/.test(message))
    return [
      'UNAVAILABLE',
      `The namespace ${shown(namespace)} is being deleted: ${reason}.`,
      'Take another namespace, or make it anew once it is gone.',
    ];
  // A missing right is told of a user. A refusal of the thing itself is mended by no role.
  if (status === 403 && /" is forbidden: (?!User )|denied the request/.test(message))
    return [
      'UNSUPPORTED',
      `A policy of ${cluster.replace('The', 'the')} refuses what Litterbox asks for: ${reason}.`,
      'Set limits.memory, limits.cpus or limits.disk so that it allows them, or ask who runs the cluster.',
    ];
  if (status === 403)
    return [
      'PERMISSION_DENIED',
      `${cluster} does not allow that: ${reason}.`,
      'Ask who runs the cluster to apply the role of the guide on Kubernetes, and look at what the check of the machine says of this provider.',
    ];
  if (status === 404)
    return [
      'NOT_FOUND',
      `${cluster} has no such thing: ${reason}.`,
      `Check that the namespace ${shown(namespace)} is there.`,
    ];
  if (status === 409) return ['CONFLICT', `${cluster} has another one already: ${reason}.`, 'Try again.'];
  if (status === 400 || status === 422)
    return [
      'UNSUPPORTED',
      `${cluster} refuses what Litterbox asks for (${status}): ${reason}.`,
      'A policy of the cluster may forbid it: compare with docs/guides/kubernetes.md.',
    ];
  return [
    'UNAVAILABLE',
    status === 429
      ? `${cluster} is asked for too much and answers no more (429).`
      : `${cluster} fails (${status}): ${reason}.`,
    'Try again in a minute; if it happens again, look at what its API server logged.',
  ];
}

const nodeCode = (error: Error): string | undefined => {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
};
