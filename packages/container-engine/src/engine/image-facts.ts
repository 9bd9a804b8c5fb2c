import type Docker from 'dockerode';
import { sortEnvironment } from '@litterbox/sandbox-kit';
import { hasLabels } from './labels.ts';

/** What of an image's own settings a sandbox takes over. */
export interface ImageFacts {
  readonly id: string;
  /** As Go names it: `amd64`. Empty where the engine does not know. */
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hostileNames: readonly string[];
  readonly volumes: readonly string[];
  /** It was made from a container of ours: of a sandbox, or beside one. */
  readonly isOfContainer: boolean;
}

/** As engines call an image; it becomes part of names of directories. */
const ID = /^(?:sha256:)?[0-9a-f]{12,64}$/;

/**
 * Entrypoint, command, user, health check, working directory and stop signal of an image are not taken over.
 *
 * @returns nothing for an answer that is no image
 */
export function imageFacts(image: Docker.ImageInspectInfo): ImageFacts | undefined {
  const { Id, Architecture, Config } = image as Partial<Docker.ImageInspectInfo>;
  const entries: unknown = Config?.Env ?? [];
  if (typeof Id !== 'string' || !ID.test(Id) || !Array.isArray(entries)) return undefined;
  if (!entries.every((entry) => typeof entry === 'string')) return undefined;
  return {
    id: Id,
    architecture: typeof Architecture === 'string' ? Architecture : '',
    ...sortEnvironment(entries),
    volumes: Object.keys(Config?.Volumes ?? {}),
    isOfContainer: hasLabels(Config?.Labels ?? {}),
  };
}
