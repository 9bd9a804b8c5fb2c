import type Docker from 'dockerode';
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

/** Names by which an environment gives orders to loaders, shells, interpreters and git. */
const HOSTILE =
  /^(LD_.*|BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|BASH_FUNC_.*|GIT_.*|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|PERL5LIB|RUBYOPT|LITTERBOX_.*)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

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
  const environment: Record<string, string> = {};
  const hostileNames: string[] = [];
  for (const entry of entries) {
    if (typeof entry !== 'string') return undefined;
    const cut = entry.indexOf('=');
    const name = cut === -1 ? entry : entry.slice(0, cut);
    if (!NAME.test(name)) continue;
    if (HOSTILE.test(name)) hostileNames.push(name);
    else environment[name] = entry.slice(cut + 1);
  }
  return {
    id: Id,
    architecture: typeof Architecture === 'string' ? Architecture : '',
    environment,
    hostileNames,
    volumes: Object.keys(Config?.Volumes ?? {}),
    isOfContainer: hasLabels(Config?.Labels ?? {}),
  };
}
