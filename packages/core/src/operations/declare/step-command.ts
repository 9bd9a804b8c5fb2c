import { quoted } from '../../channel/shell-text.ts';
import type { LitterboxErrorDetails } from '../../domain/errors/errors.ts';
import { filled, type NextStep, type StepName, worded } from '../../domain/errors/next-step.ts';
import { visibleName } from '../../domain/text/visible.ts';

/**
 * The hint of an error for a person: its steps are commands.
 *
 * @param pathHere a path from the top of the repository as the person types it where they are. @defaultValue as it is
 */
export function hintForPeople(
  { hint, next }: Pick<LitterboxErrorDetails, 'hint' | 'next'>,
  pathHere: (path: string) => string = (path) => path,
): string | undefined {
  if (next === undefined) return hint;
  return worded(next, ({ do: name, with: { paths, ...input } }) =>
    stepCommand({ do: name, with: { ...input, ...(typeof paths === 'object' && { paths: paths.map(pathHere) }) } }),
  );
}

/** A step as a person types it. What no place in the form takes becomes a word at the end, or an option. */
export function stepCommand({ do: name, with: { repository, ...input } }: NextStep): string {
  const form = STEP_COMMANDS[name];
  const options = Object.entries(input).flatMap(([key, value]) => {
    if (value === undefined || form.includes(key.toUpperCase())) return [];
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (typeof value === 'object')
      return value.flatMap((one) => (WITH_FLAGS.has(key) ? [flag, word(one)] : [word(one)]));
    return value === true ? [flag] : [flag, word(value)];
  });
  const command = filled(form, (key) => {
    const value = input[key];
    return typeof value === 'string' ? word(value) : undefined;
  });
  const place = typeof repository === 'string' ? ['-C', word(repository)] : [];
  return ['litterbox', ...place, command, ...options].join(' ');
}

/** Lists of which each word has the option before it; the others are words at the end. */
const WITH_FLAGS: ReadonlySet<string> = new Set(['include', 'allow']);

/** It may come from an agent, and a person pastes it. */
function word(text: string): string {
  const seen = visibleName(text);
  return /[^\w./:@-]|^-/.test(seen) ? quoted(seen) : seen;
}

/** Each step with the places of its values. */
export const STEP_COMMANDS: Readonly<Record<StepName, string>> = {
  'agent-install': 'agent install AGENT',
  'agent-uninstall': 'agent uninstall AGENT',
  'config-trust': 'trust',
  'host-add': 'host add NAME ADDRESS',
  'host-list': 'host list',
  'host-remove': 'host remove NAME',
  'machine-check': 'doctor',
  'sandbox-apply': 'apply SANDBOX',
  'sandbox-create': 'create NAME',
  'sandbox-clone': 'clone SANDBOX URL',
  'sandbox-delete': 'delete SANDBOX',
  'sandbox-diff': 'diff SANDBOX',
  'sandbox-explain': 'explain SANDBOX',
  'sandbox-list': 'list',
  'sandbox-log': 'log SANDBOX',
  'sandbox-logs': 'logs SANDBOX SERVICE',
  'sandbox-merge': 'merge SANDBOX',
  'sandbox-milestone': "milestone SANDBOX 'MESSAGE'",
  'sandbox-pause': 'pause SANDBOX',
  'sandbox-pause-all': 'pause --all-envs',
  'sandbox-recover': 'recover SANDBOX',
  'sandbox-restore': 'restore SANDBOX REVISION',
  'sandbox-resume': 'resume SANDBOX',
  'sandbox-run': 'run SANDBOX -- COMMAND',
  'sandbox-shell': 'shell SANDBOX',
  'sandbox-stop': 'pause SANDBOX --stop',
  'sandbox-worktree': 'worktree SANDBOX',
  'snapshot-create': 'snapshot create SANDBOX',
  'snapshot-remove': 'snapshot remove SANDBOX SNAPSHOT',
};
