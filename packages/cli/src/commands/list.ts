import { listSandboxes, type Parsed, visibleName } from '@litterbox/core';
import type { Context } from '../context.ts';
import { ago, table } from '../table.ts';

async function list(context: Context, input: Parsed<typeof listSandboxes>): Promise<void> {
  const { talk, signal } = context;
  const sandboxes = await (await context.litterbox()).perform(listSandboxes, input, { signal });
  const { all = false } = input;
  if (talk.json) return talk.document(sandboxes);
  if (sandboxes.length === 0) return talk.notice('No sandboxes. Make one: litterbox create NAME.');
  const paint = {
    ready: 'green',
    paused: 'yellow',
    stopped: 'yellow',
    creating: 'cyan',
    deleting: 'cyan',
    'setup-failed': 'red',
    missing: 'red',
    error: 'red',
  } as const;
  const hasForks = sandboxes.some(({ forkedFrom }) => forkedFrom !== undefined);
  const rows = sandboxes.map(({ name, state, provider, createdAtMs, repository, isDegraded, forkedFrom }) => [
    name,
    talk.paint(paint[state], state) + (isDegraded ? talk.paint('red', ' (degraded)') : ''),
    provider,
    ago(createdAtMs),
    ...(hasForks ? [forkedFrom ?? ''] : []),
    ...(all ? [visibleName(repository)] : []),
  ]);
  talk.result(
    table(
      ['NAME', 'STATE', 'PROVIDER', 'CREATED', ...(hasForks ? ['FORKED FROM'] : []), ...(all ? ['REPOSITORY'] : [])],
      rows,
      process.stdout.isTTY,
    ),
  );
}

export const presented = {
  'sandbox-list': { operation: listSandboxes, present: list },
} as const;
