import { isAbsolute, join } from 'node:path';
import {
  ALWAYS_LEAN,
  type Heap,
  LitterboxError,
  type OpenOptions,
  shown,
  type SourceControl,
} from '@litterbox/core/provider';
import { GitRepository } from './git-repository.ts';
import type { Integration } from './integrate/integration.ts';
import { RepositoryRegistry } from './repository-registry.ts';
import { GitRunner } from './git/run-git.ts';
import { toLitterboxError } from './git/to-litterbox-error.ts';
import { fetchRepository } from './fetch-repository.ts';
import { makeOwnRepository } from './person/own-repository.ts';
import { findUserRepository } from './person/user-repository.ts';

/** Where histories are kept, and which git is used. */
export interface GitOptions {
  /** Absolute path of Litterbox's state directory. The histories live in its `repos`. */
  readonly stateDirectory: string;
  /** Absolute path of git. @defaultValue the first in the system's directories, then in PATH */
  readonly gitBinary?: string;
  /**
   * The person's environment. Of it, HOME, XDG_CONFIG_HOME and what signing needs reach git where their own
   * configuration counts; `GIT_*` never does. @defaultValue this process's environment
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Where the first repository that is opened probably is: looked for at once, while the rest of the program is loaded. */
  readonly expectedPath?: string;
  /** Kept lean while a repository is read or written. @defaultValue as it is */
  readonly heap?: Heap;
}

/**
 * Source control over the git command. Does nothing before the first call, but to look for what is expected.
 *
 * @param integration what brings changes into the person's repository and what undoes; a program for agents has none
 */
export function openGit(options: GitOptions, integration: Integration | undefined): SourceControl {
  const { stateDirectory, gitBinary, environment = process.env, heap = ALWAYS_LEAN } = options;
  if (!isAbsolute(stateDirectory)) {
    throw new LitterboxError('STATE_DIR_INVALID', `The state directory ${shown(stateDirectory)} is not absolute.`, {
      operation: 'git',
      hint: 'Give an absolute path.',
    });
  }
  const runner = new GitRunner({ binary: gitBinary, environment, home: join(stateDirectory, 'home') });
  const registry = new RepositoryRegistry(runner, stateDirectory);
  const opened = new Set<GitRepository>();
  const { expectedPath } = options;
  let expected = expectedPath === undefined ? undefined : findUserRepository(runner, expectedPath);
  expected?.catch(() => {}); // told by who opens it
  const find = (path: string, signal: AbortSignal | undefined) => {
    const found = path === expectedPath ? expected : undefined;
    expected = undefined; // what was seen is old by the next time
    return found ?? findUserRepository(runner, path, signal);
  };
  const open = async (path: string | undefined, call: OpenOptions | undefined) => {
    call?.signal?.throwIfAborted();
    try {
      const user = await find(path ?? (await makeOwnRepository(runner, call?.signal)), call?.signal);
      const store = await registry.storeOf(user, call?.signal);
      const repository = new GitRepository(user, store, integration, heap, call?.asker ?? 'person', () => {
        opened.delete(repository);
      });
      opened.add(repository);
      return repository;
    } catch (error) {
      throw toLitterboxError('repository.open', error, { signal: call?.signal, gitCode: 'REPO_CORRUPT' });
    }
  };
  return {
    open,
    openOwn: (call) => open(undefined, call),
    fetch: (url, call) => fetchRepository(runner, join(stateDirectory, 'clones'), url, call),
    async *left(path, call) {
      call?.signal?.throwIfAborted();
      try {
        yield* registry.left(path);
      } catch (error) {
        throw toLitterboxError('repository.list', error, { signal: call?.signal });
      }
    },
    async *list(call) {
      call?.signal?.throwIfAborted();
      try {
        yield* registry.list();
      } catch (error) {
        throw toLitterboxError('repository.list', error, { signal: call?.signal });
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...opened].map((repository) => repository[Symbol.asyncDispose]()));
      registry.close();
    },
  };
}
