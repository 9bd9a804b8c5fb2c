import * as z from 'zod';
import { originText } from '../domain/secrets/secret-origin.ts';
import { type CheckedSecret, CheckSecrets, type NamedSecret } from '../use-cases/decide/check-secrets.ts';
import { operation } from './declare/operation.ts';

const GROUP = 'secret';

/** `secret-list`, `litterbox secret list`: the secrets that the configuration names. */
export const listSecrets = operation({
  name: 'secret-list',
  summary: 'List the secrets that .litterbox.toml names, and where each is kept',
  effect: 'read',
  command: { group: GROUP, verb: 'list', positional: [], examples: ['secret list'] },
  input: z.strictObject({}),
  document: (secrets: readonly NamedSecret[]) =>
    secrets.map(({ name, origin, expose }) => ({ name, from: originText(origin), ...(expose && { expose }) })),
  execute: async (useCases, _input, options) => await useCases.get(CheckSecrets).list(options),
});

/** `secret-check`, `litterbox secret check`: whether each of them can be read. */
export const checkSecrets = operation({
  name: 'secret-check',
  summary: 'Read each secret that .litterbox.toml names, and tell whether it is there, never its value',
  effect: 'host',
  command: { group: GROUP, verb: 'check', positional: ['name'], examples: ['secret check', 'secret check API_TOKEN'] },
  input: z.strictObject({ name: z.string().max(64).optional().describe('the one to read; all without it') }),
  document: (secrets: readonly CheckedSecret[]) =>
    secrets.map(({ name, origin, expose, error }) => ({
      name,
      from: originText(origin),
      ...(expose && { expose }),
      ...(error && { code: error.code, message: error.message }),
    })),
  execute: async (useCases, { name }, options) => await useCases.get(CheckSecrets).check(name, options),
});
