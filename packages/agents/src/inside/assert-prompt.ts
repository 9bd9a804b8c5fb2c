import { LitterboxError } from 'litterbox';

const MAX_CHARACTERS = 65_536;

/** An agent reads its prompt where options stand too. @throws LitterboxError `ARG_RANGE` */
export function assertPrompt(prompt: string): void {
  const refuse = (what: string, hint: string) =>
    new LitterboxError('ARG_RANGE', what, { operation: 'agent.run', hint });
  if (prompt.trim() === '') throw refuse('The prompt is empty.', 'Say what is to be done, after --.');
  if (prompt.startsWith('-'))
    throw refuse('The prompt begins with a dash, and the agent would take it for an option.', 'Begin with a word.');
  if (prompt.length > MAX_CHARACTERS || prompt.includes('\0'))
    throw refuse(
      `The prompt has to be text of at most ${MAX_CHARACTERS} characters.`,
      'Put the rest into a file of the repository, and name that file.',
    );
}
