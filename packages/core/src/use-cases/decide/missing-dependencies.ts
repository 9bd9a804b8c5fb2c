import { detected, type Ecosystem } from '../../domain/sandbox/ecosystems.ts';
import { isWithinAny } from '../../domain/sandbox/included-path.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Host } from '../../ports/machine/host.ts';
import type { BaseSource, PersonsRepository } from '../../ports/source-control/persons-repository.ts';

/** Dependencies of a project that a new sandbox does without. */
export interface MissingDependencies {
  /** The kinds of project that miss theirs. */
  readonly ecosystems: readonly Ecosystem[];
  /** Those of their directories that the working tree has, and the base has not. */
  readonly directories: readonly string[];
}

/**
 * What the files at the top of the working tree show that a sandbox will miss. Nothing where a setup installs it, where it comes along, and
 * where git has it.
 *
 * @param host the person's machine
 */
export async function missingDependencies(
  host: Host,
  repository: PersonsRepository,
  { setup, install = [], include = [] }: Pick<Policy, 'setup' | 'install' | 'include'>,
  source: BaseSource,
  options?: CallOptions,
): Promise<MissingDependencies | undefined> {
  if (setup.length + install.length > 0) return undefined;
  const names = new Set((await host.files.list(repository.root, options))?.map(({ name }) => name));
  const found = detected((name) => names.has(name));
  const own = ({ directory }: Ecosystem) => (directory !== undefined && names.has(directory) ? [directory] : []);
  const inside = new Set(include);
  const there = found.flatMap(own).filter((directory) => !isWithinAny(directory, inside));
  for (const directory of await tracked(repository, there, source, options)) inside.add(directory);
  const ecosystems = found.filter((one) => {
    const [directory] = own(one);
    return directory === undefined ? one.isCertain : !isWithinAny(directory, inside);
  });
  if (ecosystems.length === 0) return undefined;
  return { ecosystems, directories: [...new Set(ecosystems.flatMap(own))] };
}

/** Those of the directories in which git has something. A program is started only where there are any. */
async function tracked(
  repository: PersonsRepository,
  directories: readonly string[],
  source: BaseSource,
  options?: CallOptions,
): Promise<readonly string[]> {
  if (directories.length === 0) return [];
  const { tree } = await repository.base(source.type === 'ref' ? source : { type: 'head' }, options);
  const named = new Set(directories);
  const paths = [...(await repository.contentIds(tree, (path) => isWithinAny(path, named), options)).keys()];
  return directories.filter((directory) => paths.some((path) => isWithinAny(path, new Set([directory]))));
}
