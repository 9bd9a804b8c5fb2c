import { homedir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../repository-root.ts';
import type { Places } from './agent-client.ts';

/** Where things are for whoever runs this, seen from a directory. */
export function placesOf(directory: string): Places {
  const environment = process.env;
  const { HOME, XDG_CONFIG_HOME: own } = environment;
  const home = HOME || homedir();
  const root = repositoryRoot(directory);
  return {
    home,
    configHome: own?.startsWith('/') ? own : join(home, '.config'),
    environment,
    ...(root !== undefined && { root }),
  };
}
