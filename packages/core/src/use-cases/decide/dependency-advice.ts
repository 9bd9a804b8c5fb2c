import { quoted } from '../../channel/shell-text.ts';
import { DEFAULT_IMAGE } from '../../config/default-image.ts';
import type { Ecosystem } from '../../domain/sandbox/ecosystems.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { MissingDependencies } from './missing-dependencies.ts';

/** A new sandbox, and the command line that makes it. */
export interface CreatedWith {
  /** The name that the sandbox has by now. */
  readonly slug: string;
  readonly policy: Policy;
  /** The words of the command line, without the program's own name. */
  readonly args: readonly string[];
  /** Another repository than the one of the current directory. */
  readonly repository?: string | undefined;
}

/** Advice for dependencies that a new sandbox does not have. */
export interface DependencyAdvice {
  /** The missing dependencies and why, one sentence. */
  readonly reason: string;
  /** The command that makes the sandbox again with the person's copy. Absent where there is none that would run. */
  readonly withCopy?: string;
  /** The command that makes it again with a setup that downloads. */
  readonly withSetup: string;
}

/** The commands make the sandbox anew: it has the name already, and nothing in it to lose. `delete` refuses where that is no longer so. */
export function dependencyAdvice(
  created: CreatedWith,
  { ecosystems, directories }: MissingDependencies,
): DependencyAdvice {
  const hasNoTools = isBare(created.policy);
  const hasCopy = directories.length > 0;
  return {
    reason: hasCopy
      ? `Git ignores ${directories.join(' and ')}, so ${directories.length === 1 ? 'it is' : 'they are'} not in the sandbox.`
      : `No setup command ran for ${ecosystems.map(({ files }) => files.at(-1)).join(' and ')}.`,
    ...(hasCopy && !hasNoTools && { withCopy: commandLine(created, copyWords(created, directories)) }),
    withSetup: commandLine(created, setupWords(created, ecosystems, hasNoTools)),
  };
}

/** Whether there is the smallest image alone, which has no tools that could use dependencies. */
export function isBare({ root }: Pick<Policy, 'root'>): boolean {
  return root.type === 'image' && root.reference === DEFAULT_IMAGE;
}

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

function setupWords({ policy }: CreatedWith, found: readonly Ecosystem[], hasNoTools: boolean): readonly string[] {
  const { run, allow = [] } = policy.network;
  const [image] = found.map((one) => one.image);
  return [
    '--setup',
    found.map(({ setup }) => shellText(setup)).join(' && '),
    '--network',
    run === 'none' ? 'setup' : 'both',
    '--allow',
    [...new Set([...allow, ...found.flatMap((one) => one.hosts)])].join(','),
    ...(hasNoTools && image !== undefined ? ['--image', image] : []),
  ];
}

/** A command that is a text for a shell already stays that text. */
function shellText(setup: readonly string[]): string {
  const [program, option, text] = setup;
  return program === 'sh' && option === '-c' && text !== undefined ? text : setup.map(quoted).join(' ');
}
