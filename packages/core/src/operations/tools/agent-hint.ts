import type { LitterboxErrorDetails } from '../../domain/errors/errors.ts';
import { type StepName, worded } from '../../domain/errors/next-step.ts';
import { stepCommand } from '../declare/step-command.ts';

/** Between the sentences of a hint, and between what stands before and after a semicolon. */
const PARTS = /(?<=[.;]) (?=[A-Za-z\0])/;
const TOOLS: Readonly<Partial<Record<StepName, string>>> = {
  'sandbox-create': 'sandbox-create',
  'sandbox-list': 'sandbox-list',
};

/**
 * The hint of an error for a model: a step that there is a tool for becomes the tool; else the command that the person is to be asked
 * for, without the words that are for the person alone.
 *
 * @param nameOf the name under which a tool is offered
 */
export function agentHint(
  { hint = '', next = [hint] }: Pick<LitterboxErrorDetails, 'hint' | 'next'>,
  nameOf: (tool: string) => string,
): string {
  const commands: string[] = [];
  const text = worded(next, (one) => {
    const tool = Object.keys(one.with).length === 0 ? TOOLS[one.do] : undefined;
    if (tool !== undefined) return nameOf(tool);
    commands.push(stepCommand(one));
    return '\0';
  });
  const own = text
    .replace(/^Look with ls -la in the sandbox\.$/, `Look with ${nameOf('bash')}: ls -la.`)
    .replace(/\bbash(?= for what is hidden|: cat)/, nameOf('bash'));
  if (commands.length === 0) return own;
  const kept = own.split(PARTS).filter((part) => !part.includes('\0'));
  return [...kept.map((part) => part.replace(/;$/, '.')), `Ask the person to run: ${commands.join(', then ')}.`].join(
    ' ',
  );
}
