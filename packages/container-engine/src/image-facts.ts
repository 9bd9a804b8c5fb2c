import type Docker from 'dockerode';

/** What of an image's own settings a sandbox takes over. */
export interface ImageFacts {
  readonly id: string;
  /** As Go names it: `amd64`. Empty where the engine does not know. */
  readonly architecture: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hostileNames: readonly string[];
  readonly volumes: readonly string[];
}

/** Names by which an environment gives orders to loaders, shells, interpreters and git. */
const HOSTILE =
  /^(LD_.*|BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|BASH_FUNC_.*|GIT_.*|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|PERL5LIB|RUBYOPT|LITTERBOX_.*)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Entrypoint, command, user, health check, working directory and stop signal of an image are not taken over. */
export function imageFacts({ Id, Architecture, Config }: Docker.ImageInspectInfo): ImageFacts {
  const environment: Record<string, string> = {};
  const hostileNames: string[] = [];
  for (const entry of Config.Env ?? []) {
    const cut = entry.indexOf('=');
    const name = cut === -1 ? entry : entry.slice(0, cut);
    if (!NAME.test(name)) continue;
    if (HOSTILE.test(name)) hostileNames.push(name);
    else environment[name] = entry.slice(cut + 1);
  }
  return {
    id: Id,
    architecture: Architecture ?? '',
    environment,
    hostileNames,
    volumes: Object.keys(Config.Volumes ?? {}),
  };
}
