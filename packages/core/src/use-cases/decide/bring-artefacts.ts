import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ObjectId } from '../../domain/sandbox/ids.ts';
import { isWithinAny } from '../../domain/sandbox/included-path.ts';
import { isOfPackage, packageParts } from '../../domain/sandbox/package-parts.ts';
import { sha256 } from '../../domain/text/sha256.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { DirectorySync } from '../../ports/machine/directory-sync.ts';
import type { Host } from '../../ports/machine/host.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { Base, BaseSource, PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { Artefacts, NewerThanBuilt } from '../../ports/sandbox/sandbox-provider.ts';
import { findOutsideFiles } from './find-outside-files.ts';
import { type MissingDependencies, missingDependencies } from './missing-dependencies.ts';

/** The artefacts that come along into one sandbox. */
export interface BroughtArtefacts {
  /** Absent when nothing does. */
  readonly artefacts?: Artefacts;
  /** Named paths that do not come along, and why, one sentence each. */
  readonly warnings: readonly string[];
}

/** The wanted files of the working tree. */
export interface WantedArtefacts {
  /** As `includedPath` has them. */
  readonly paths: readonly string[];
  /** Tracked files that are named come with the base, as they are in the working tree. */
  readonly isWorkTree: boolean;
  /** Whether a path that cannot come along is refused; else it is a warning. */
  readonly isStrict: boolean;
}

interface Needs {
  readonly host: Host;
  readonly directorySync: DirectorySync;
}

/** Decides what of the person's working tree comes along beside a base. */
export class BringArtefacts {
  readonly #needs: Needs;

  /** @param host the person's machine */
  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Dependencies that neither come along with that policy nor are installed. */
  async findMissing(
    repository: PersonsRepository,
    policy: Policy,
    source: BaseSource,
    options?: CallOptions,
  ): Promise<MissingDependencies | undefined> {
    return await missingDependencies(this.#needs.host, repository, policy, source, options);
  }

  /** @throws LitterboxError `NOT_FOUND`, `CONFLICT` where the base has something there, when `isStrict` */
  async bring(
    repository: PersonsRepository,
    base: Pick<Base, 'commit' | 'tree'>,
    { paths, isWorkTree, isStrict }: WantedArtefacts,
    options?: CallOptions,
  ): Promise<BroughtArtefacts> {
    if (paths.length === 0) return { warnings: [] };
    const named = new Set(paths);
    const tracked = await pathsNear(repository, base.tree, named, options);
    const inBase = [...tracked].filter((path) => isNear(path, named));
    const brought: string[] = [];
    const warnings: string[] = [];
    const leave = (code: 'NOT_FOUND' | 'CONFLICT', message: string, hint: string) => {
      if (isStrict) throw new LitterboxError(code, message, { operation: 'sandbox.create', hint });
      warnings.push(`${message} ${hint}`);
    };
    const parts = await this.#parts(repository, paths, tracked, options);
    for (const path of paths) {
      if (isWorkTree && inBase.includes(path)) continue;
      const meets = inBase.find((one) => isWithinAny(one, new Set([path])) || isWithinAny(path, new Set([one])));
      if (meets !== undefined) {
        const what = meets === path ? '' : `, as ${shown(meets)} says`;
        leave('CONFLICT', `${shown(path)} cannot be included: the base has files there${what}.`, HINT_TRACKED);
      } else if (await this.#needs.host.files.stat(`${repository.root}/${path}`, options)) brought.push(path);
      else if (!parts.some((part) => nameOf(part) === nameOf(path)))
        leave('NOT_FOUND', `${shown(path)} cannot be included: the working tree has nothing there.`, HINT_MISSING);
    }
    brought.push(...parts.slice(0, MAX_PARTS));
    if (parts.length > MAX_PARTS)
      warnings.push(`Only ${MAX_PARTS} of ${parts.length} directories in packages are included. ${HINT_PARTS}`);
    if (brought.length === 0) return { warnings };
    const source = { host: this.#needs.host, path: repository.root };
    const newerThan = (sinceSeconds: number, options?: CallOptions) => newer(repository, base, sinceSeconds, options);
    return { artefacts: { source, sync: this.#needs.directorySync, paths: brought, newerThan }, warnings };
  }

  /** Directories of the named kinds in the repository's packages, as far as they exist and git tracks nothing in them. */
  async #parts(
    { root }: PersonsRepository,
    paths: readonly string[],
    tracked: ReadonlySet<string>,
    options?: CallOptions,
  ): Promise<readonly string[]> {
    const parts = new Set(packageParts(paths, tracked));
    for (const path of tracked) for (const above of placesOf(path)) parts.delete(above);
    const wanted = [...parts].filter((path) => !isWithinAny(path, new Set(paths)));
    const stats = await Promise.all(wanted.map((path) => this.#needs.host.files.stat(`${root}/${path}`, options)));
    return wanted.filter((_path, index) => stats[index]?.type === 'directory');
  }
}

const HINT_TRACKED = 'Name what git ignores, or leave it out of include.';
/** Each is a word for a program of the machine. */
const MAX_PARTS = 500;
const HINT_PARTS = 'Let the setup install the others.';
const HINT_MISSING = 'Build or install it first, or leave it out of include.';

/** A path, and all above it. */
function* placesOf(path: string): Generator<string, void, undefined> {
  for (let cut = path.length; cut > 0; cut = path.lastIndexOf('/', cut - 1)) yield path.slice(0, cut);
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Whether a path of a tree lies at one of the paths, below one, or where a directory above one has to be. */
const isNear = (path: string, paths: ReadonlySet<string>) =>
  isWithinAny(path, paths) || [...paths].some((one) => one.startsWith(`${path}/`));

/** Files, links and submodules of a tree {@link isNear near} the paths, in directories of the same names, and what tells of packages. */
async function pathsNear(
  repository: PersonsRepository,
  tree: ObjectId,
  paths: ReadonlySet<string>,
  options?: CallOptions,
): Promise<ReadonlySet<string>> {
  const names = new Set([...paths].map(nameOf));
  const isWanted = (path: string) =>
    isNear(path, paths) || isOfPackage(path, [...paths]) || path.split('/').some((part) => names.has(part));
  const ids = await repository.contentIds(tree, isWanted, options);
  const submodules = await repository.submodules(tree, options);
  return new Set([...ids.keys(), ...submodules.map(({ path }) => path).filter(isWanted)]);
}

/** A file that is another one in the working tree was not what builds there saw: it is as new as can be. */
async function newer(
  repository: PersonsRepository,
  base: Pick<Base, 'commit' | 'tree'>,
  sinceSeconds: number,
  options?: CallOptions,
): Promise<NewerThanBuilt> {
  const { tree } = base;
  const { largeFiles } = await findOutsideFiles(repository, base, options);
  const found = await repository.workTimes(tree, sinceSeconds, options);
  const lines = [...found].map(([path, time]) => `${time ?? 'other'} ${path}`).sort();
  const key = await sha256(new TextEncoder().encode(JSON.stringify([tree, lines])));
  return {
    key,
    open(call) {
      const now = BigInt(Date.now()) * 1_000_000n;
      const times = new Map([...found].map(([path, time]) => [path, time ?? now]));
      return repository.tree(tree, { ...call, largeFiles, times });
    },
  };
}
