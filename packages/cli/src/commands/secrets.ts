import { checkSecrets, hintForPeople, listSecrets, type NamedSecret, originText, type Parsed } from '@litterbox/core';
import type { Context } from '../context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { table } from '../terminal/table.ts';

const NONE = '.litterbox.toml names no secrets.';

async function list(context: Context, input: Parsed<typeof listSecrets>): Promise<void> {
  const { talk, signal } = context;
  const secrets = await (await context.litterbox()).perform(listSecrets, input, { signal });
  if (talk.json) return talk.document(listSecrets.document?.(secrets));
  if (secrets.length === 0) return talk.notice(NONE);
  const rows = secrets.map((secret) => [secret.name, fromText(secret)]);
  talk.result(table(['NAME', 'FROM'], rows, process.stdout.isTTY));
}

async function check(context: Context, input: Parsed<typeof checkSecrets>): Promise<void> {
  const { talk, signal } = context;
  const secrets = await (await context.litterbox()).perform(checkSecrets, input, { signal });
  const failures = secrets.flatMap(({ error }) => (error === undefined ? [] : [error]));
  if (talk.json) {
    talk.document(checkSecrets.document?.(secrets));
    if (failures[0] !== undefined) process.exitCode = exitCodeOf(failures[0]);
    return;
  }
  if (secrets.length === 0) return talk.notice(NONE);
  const rows = secrets.map((secret) => [
    secret.name,
    fromText(secret),
    secret.error === undefined ? talk.paint('green', 'there') : talk.paint('red', secret.error.code),
  ]);
  talk.result(table(['NAME', 'FROM', 'STATE'], rows, process.stdout.isTTY));
  // The first is thrown, and so told like any other.
  for (const error of failures.slice(1)) talk.error(error.message, hintForPeople(error.details));
  if (failures[0] !== undefined) throw failures[0];
}

function fromText({ origin, expose }: NamedSecret): string {
  return originText(origin) + (expose === undefined ? '' : `, exposed as ${expose}`);
}

export const presented = {
  'secret-list': { operation: listSecrets, present: list },
  'secret-check': { operation: checkSecrets, present: check },
} as const;
