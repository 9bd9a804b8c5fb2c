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

/** What can be seen of the top of the work tree. */
export interface WorkTree {
  /** Whether there is a file or directory of that name. */
  has(name: string): boolean;
  /** Whether git ignores what has that name, so that it came along only where `include` names it. */
  isIgnored(name: string): boolean;
}

/**
 * What a person does about dependencies that stayed outside, as lines to read and to paste. Nothing where a setup ran, where they came
 * along, and where nothing shows that the project has any.
 */
export function dependencyNote(created: CreatedWith, tree: WorkTree): string | undefined {
  const { setup, install = [], include = [], root } = created.policy;
  if (setup.length > 0 || install.length > 0) return undefined;
  const hasDirectory = ({ directory }: Ecosystem) => directory !== undefined && tree.has(directory);
  const isInside = ({ directory = '' }: Ecosystem) =>
    include.some((path) => `${directory}/`.startsWith(`${path}/`)) || !tree.isIgnored(directory);
  const found = detected((name) => tree.has(name)).filter((one) =>
    hasDirectory(one) ? !isInside(one) : one.isCertain,
  );
  if (found.length === 0) return undefined;
  const directories = found.filter(hasDirectory).flatMap(({ directory = '' }) => directory);
  const isBare = root.type === 'image' && root.reference === DEFAULT_IMAGE;
  const lines = [
    directories.length > 0
      ? `Git ignores ${directories.join(' and ')}, so your copy is not in the sandbox.`
      : `No setup command ran for ${found.map(({ files }) => files.at(-1)).join(' and ')}.`,
  ];
  if (directories.length > 0 && !isBare)
    lines.push(
      'To recreate the sandbox with your copy, run:',
      `  ${commandLine(created, copyWords(created, directories))}`,
    );
  lines.push(
    'To recreate the sandbox with dependencies installed from the network, run:',
    `  ${commandLine(created, setupWords(created, found, isBare))}`,
  );
  return lines.join('\n');
}

/** The new sandbox has the name already, and nothing in it to lose: `delete` refuses where that is no longer so. */
function commandLine({ slug, args, repository }: CreatedWith, more: readonly string[]): string {
  const removal = [...(repository === undefined ? [] : ['-C', repository]), 'delete', slug];
  const again = [...args.filter((word) => word !== '--'), ...more];
  return [removal, again].map((words) => ['litterbox', ...words].map(quoted).join(' ')).join(' && ');
}

/** The option takes the place of what the configuration names, and adds to itself. */
function copyWords({ policy, args }: CreatedWith, directories: readonly string[]): readonly string[] {
  const isGiven = args.some((word) => word === '--include' || word.startsWith('--include='));
  return ['--include', [...(isGiven ? [] : (policy.include ?? [])), ...directories].join(',')];
}

function setupWords({ policy }: CreatedWith, found: readonly Ecosystem[], isBare: boolean): readonly string[] {
  const { run, allow = [] } = policy.network;
  const [image] = found.map((one) => one.image);
  return [
    '--setup',
    found.map(({ setup }) => shellText(setup)).join(' && '),
    '--network',
    run === 'none' ? 'setup' : 'both',
    '--allow',
    [...new Set([...allow, ...found.flatMap((one) => one.hosts)])].join(','),
    ...(isBare && image !== undefined ? ['--image', image] : []),
  ];
}

/** A command that is a text for a shell already stays that text. */
function shellText(setup: readonly string[]): string {
  const [program, option, text] = setup;
  return program === 'sh' && option === '-c' && text !== undefined ? text : setup.map(quoted).join(' ');
}
