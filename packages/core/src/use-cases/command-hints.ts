import { limitHints, type LimitedOutcome } from '../domain/limit-hints.ts';
import type { Policy } from '../domain/policy.ts';
import { type HintReader, systemRuleHint } from '../domain/system-rule-hint.ts';
import { commandNetworkHint } from './network-hint.ts';
import { repositoryHint } from './repository-hint.ts';

/** Of what a command printed, the end that is searched for what it ran into, in characters. */
const LAST = 8_000;

/** What of the sandbox a command ran into, as its output shows: limits that were hit, then the one rule that it names first. */
export function commandHints(
  { limits, network, workspaceGit }: Pick<Policy, 'limits' | 'network' | 'workspaceGit'>,
  ended: LimitedOutcome,
  reader: HintReader,
): readonly string[] {
  const text = ended.text.slice(-LAST);
  const ofRules =
    (ended.exit.code === 0 ? undefined : systemRuleHint(text, reader)) ??
    commandNetworkHint(network, { exit: ended.exit, text }, reader) ??
    (ended.exit.code === 0 ? undefined : repositoryHint({ workspaceGit }, text, reader));
  return [...limitHints(limits, ended), ...(ofRules === undefined ? [] : [ofRules])];
}
