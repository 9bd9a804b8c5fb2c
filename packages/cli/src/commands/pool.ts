import { managePool, type Parsed } from '@litterbox/core';
import type { Context } from '../context.ts';
import { ago, table } from '../terminal/table.ts';

async function pool(context: Context, input: Parsed<typeof managePool>): Promise<void> {
  const { talk, signal } = context;
  const isChange = input.fill === true || input.clear === true;
  const litterbox = await (isChange ? context.settled() : context.litterbox());
  const report = await litterbox.perform(managePool, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(managePool.document?.(report));
  const { sandboxes, made, removed } = report;
  if (isChange) talk.notice(`Prepared ${made}, removed ${removed}.`);
  if (sandboxes.length === 0) return talk.notice('No prepared sandboxes.');
  const rows = sandboxes.map(({ id, state, provider, createdAtMs }) => [
    id,
    talk.paint(state === 'ready' ? 'green' : 'cyan', state),
    provider,
    ago(createdAtMs),
  ]);
  talk.result(table(['ID', 'STATE', 'PROVIDER', 'CREATED'], rows, process.stdout.isTTY));
}

export const presented = {
  'pool-manage': { operation: managePool, present: pool },
} as const;
