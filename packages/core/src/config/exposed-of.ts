import { LitterboxError } from '../domain/errors/errors.ts';
import { type ExposedSecret, originOf } from '../domain/secrets/exposed-secret.ts';
import type { Config } from './config-schema.ts';

/**
 * @param taken variables that commands have anyway
 * @throws LitterboxError `CONFIG_VALUE` for a variable that would be set twice
 */
export function exposedOf(secrets: Config['secrets'], taken: readonly string[]): readonly ExposedSecret[] {
  const variables = new Set(taken);
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const { expose: variable } = secret;
    if (variable === undefined) return [];
    if (variables.has(variable))
      throw new LitterboxError(
        'CONFIG_VALUE',
        `secrets.${name}.expose: the variable ${variable} is set elsewhere too, and programs would take the wrong one.`,
        {
          operation: 'config.policy',
          hint: 'Choose another variable, or remove it from container.env, --env and the other table.',
        },
      );
    variables.add(variable);
    return [{ name, variable, origin: originOf(secret) }];
  });
}
