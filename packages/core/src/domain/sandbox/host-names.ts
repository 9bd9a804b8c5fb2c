import { LitterboxError } from '../errors/errors.ts';
import { advice, step } from '../errors/next-step.ts';
import { isHostName, normalHostName } from './provider-key.ts';
import { shown } from '../text/shown.ts';

/** Most machines that one create asks. */
export const MAX_HOSTS = 16;

/**
 * Names of machines in their one spelling, each once, in the order in which they were given.
 *
 * @throws LitterboxError `INVALID_ARGUMENT` for what is no name, for none at all and for too many
 */
export function hostNames(names: readonly string[]): readonly string[] {
  const unique = [...new Set(names.map((name) => normalHostName(name.trim())))];
  const invalid = unique.find((name) => !isHostName(name));
  if (invalid !== undefined) throw refused(`There is no host ${shown(invalid)}.`);
  if (unique.length === 0) throw refused('No host is named.');
  if (unique.length > MAX_HOSTS) throw refused(`${unique.length} hosts are too many; at most ${MAX_HOSTS} are asked.`);
  return unique;
}

const refused = (message: string) =>
  new LitterboxError('INVALID_ARGUMENT', message, {
    operation: 'provider.find',
    hint: advice`Name machines of ${step('host-list')}; local is this one.`,
  });
