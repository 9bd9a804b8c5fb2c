import { DEFAULT_IMAGE, type Policy, quoted } from '@litterbox/core';
import { detected, type Ecosystem } from './ecosystems.ts';

export interface CreatedWith {
  /** The name that the sandbox has by now. */
  readonly slug: string;
  readonly policy: Policy;
  /** The words of the command line, without the program's own name. */
  readonly args: readonly string[];
  /** Another repository than the one of the current directory. */
  readonly repository: string | undefined;
}

/**
 * What a person does about dependencies that stayed outside, as lines to read and one to paste. Nothing where a setup ran, and where
 * nothing shows that the project has any.
 *
 * @param hasFile whether there is a file or directory of that name at the top of the work tree
 */
export function dependencyNote(created: CreatedWith, hasFile: (name: string) => boolean): string | undefined {
  const { setup, install = [] } = created.policy;
  if (setup.length > 0 || install.length > 0) return undefined;
  const found = detected(hasFile).filter((one) => one.isCertain || hasDirectory(one, hasFile));
  if (found.length === 0) return undefined;
  const files = found.map((one) => one.files.at(-1)).join(' and ');
  const directories = found.flatMap((one) => (hasDirectory(one, hasFile) ? [one.directory] : []));
  const outside =
    directories.length === 0
      ? `Dependencies of ${files} are not in the sandbox: git does not track them.`
      : `Dependencies of ${files} are not in the sandbox: it holds what git tracks, not ${directories.join(' or ')}.`;
  return `${outside} This makes it again with them:\n  ${commandLine(created, found)}`;
}

const hasDirectory = ({ directory }: Ecosystem, hasFile: (name: string) => boolean): boolean =>
  directory !== undefined && hasFile(directory);

/** The new sandbox has the name already, and nothing in it to lose: `delete` refuses where that is no longer so. */
function commandLine({ slug, policy, args, repository }: CreatedWith, found: readonly Ecosystem[]): string {
  const { run, allow = [] } = policy.network;
  const hosts = [...new Set([...allow, ...found.flatMap((one) => one.hosts)])];
  const isBare = policy.root.type === 'image' && policy.root.reference === DEFAULT_IMAGE;
  const [image] = found.map((one) => one.image);
  const again = [
    ...args.filter((word) => word !== '--'),
    '--setup',
    found.map(({ setup }) => shellText(setup)).join(' && '),
    '--network',
    run === 'none' ? 'setup' : 'both',
    '--allow',
    hosts.join(','),
    ...(isBare && image !== undefined ? ['--image', image] : []),
  ];
  const removal = [...(repository === undefined ? [] : ['-C', repository]), 'delete', slug];
  return [removal, again].map((words) => ['litterbox', ...words].map(quoted).join(' ')).join(' && ');
}

/** A command that is a text for a shell already stays that text. */
function shellText(setup: readonly string[]): string {
  const [program, option, text] = setup;
  return program === 'sh' && option === '-c' && text !== undefined ? text : setup.map(quoted).join(' ');
}
