import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Forecast, type RecordedWork, type RepositoryId, type SandboxId } from '@litterbox/core/provider';
import { forecastKnown, withRevisions } from './publish/forecast-known.ts';
import { userEnvironment } from './git/git-settings.ts';
import { RefFiles } from './objects/ref-files.ts';
import { findPlainRepository } from './person/plain-repository.ts';
import { registeredId } from './repository-registry.ts';
import { knownWorks } from './store/read-works.ts';
import { areRefsWhole } from './store/settle-journal.ts';

/** Answers what a list asks about a repository; undefined where git has to be asked. */
export interface RepositoryAtOnce {
  readonly id: RepositoryId;
  works(ids: readonly SandboxId[]): ReadonlyMap<SandboxId, RecordedWork> | undefined;
  forecast(ids: readonly SandboxId[]): Forecast | undefined;
}

/**
 * A repository that was opened before, as its files and ours tell of it. It starts no program and changes nothing. Undefined for one that
 * only git can tell of.
 *
 * @param stateDirectory absolute path
 * @param path of a directory in the repository
 * @param environment the person's
 */
export function repositoryAtOnce(
  stateDirectory: string,
  path: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RepositoryAtOnce | undefined {
  const user = findPlainRepository(realpathSync.native(path));
  const stores = join(stateDirectory, 'repos');
  const id = user && registeredId(stores, user);
  if (!user || id === undefined) return undefined;
  const directory = join(stores, id);
  const store = { directory, refs: new RefFiles(join(directory, 'store.git')) };
  if (!areRefsWhole(store.refs, join(directory, 'revisions.journal'))) return undefined; // what a power cut took is made again first
  return {
    id,
    works(ids) {
      const { works, unknown } = knownWorks(store, ids);
      return unknown.length === 0 ? works : undefined;
    },
    forecast(ids) {
      const made = withRevisions(store.refs, ids);
      const nothing = { conflicts: [], untried: 0 };
      return made.length === 0 ? nothing : forecastKnown(store, user, made, userEnvironment(environment));
    },
  };
}
