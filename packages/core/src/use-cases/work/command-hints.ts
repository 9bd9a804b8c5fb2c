import { advice, type Hint, step } from '../../domain/errors/next-step.ts';
import { limitHints, type LimitedOutcome } from '../../domain/sandbox/limit-hints.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { type HintReader, systemRuleHint } from '../../domain/sandbox/system-rule-hint.ts';
import { commandNetworkHint } from '../prepare/network-hint.ts';
import { repositoryHint } from '../prepare/repository-hint.ts';

type Packages = Pick<Policy, 'setup' | 'install' | 'include'>;

/** Length of the end of the output that is searched for limits and rules, in characters. */
const LAST = 8_000;

/** Messages of programs that miss a package, or a program that one brings. */
const PACKAGE_WORDS =
  /cannot find (?:module|package) '[^./'][^']*'|ERR_MODULE_NOT_FOUND|no module named|(?:^|: )[\w@./-]+: (?:command )?not found$/im;

/** Nothing where a setup installed what it needs, or a person gave it along. */
function packagesHint(
  { setup, install = [], include = [] }: Packages,
  text: string,
  reader: HintReader,
): Hint | undefined {
  if (setup.length + install.length + include.length > 0 || !PACKAGE_WORDS.test(text)) return undefined;
  const copied = step('sandbox-create', { include: ['node_modules'] });
  const made = step('sandbox-create', { setup: 'COMMAND' });
  return advice`a sandbox has what git tracks and the programs of the machine, not dependencies such as node_modules or .venv; ${reader === 'agent' ? 'ask the person for one' : 'to create one'} that has them: ${copied}, or ${made}`;
}

/** The limits and rules of the sandbox that a command ran into, as its output shows: limits that were hit, then the one rule that it names first. */
export function commandHints(
  { limits, network, workspaceGit, ...packages }: Pick<Policy, 'limits' | 'network' | 'workspaceGit'> & Packages,
  ended: LimitedOutcome,
  reader: HintReader,
): readonly Hint[] {
  const text = ended.text.slice(-LAST);
  const ofNetwork = () => commandNetworkHint(network, { exit: ended.exit, text }, reader);
  const ofRules =
    ended.exit.code === 0
      ? ofNetwork()
      : (systemRuleHint(text, reader) ??
        ofNetwork() ??
        repositoryHint({ workspaceGit }, text, reader) ??
        packagesHint(packages, text, reader));
  return [...limitHints(limits, ended), ...(ofRules === undefined ? [] : [ofRules])];
}
