import {
  listSandboxes,
  LitterboxError,
  type Parsed,
  readCompute,
  readUsage,
  type SandboxSummary,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { processorTime, timeText, tokensCell } from '../inside/cost.ts';
import { bytes } from '../terminal/table.ts';
import { showList, shownSandboxes, type Spent } from '../terminal/show-list.ts';

interface ListFlags {
  readonly changed?: boolean;
  readonly wide?: boolean;
}

async function list(context: Context, input: Parsed<typeof listSandboxes>, flags: ListFlags): Promise<void> {
  const { talk, signal } = context;
  const option = flags.changed ? '--changed' : flags.wide ? '--wide' : undefined;
  if (input.all && option !== undefined)
    throw new LitterboxError('INVALID_ARGUMENT', `--all and ${option} cannot be combined.`, {
      operation: 'sandbox.list',
      hint: `Leave out --all: ${option} is known of the sandboxes of one repository, which -C names.`,
    });
  const found = await (await context.litterbox()).perform(listSandboxes, input, { signal });
  const sandboxes = shownSandboxes(found, flags.changed);
  if (talk.json) return talk.document(flags.wide ? await withCompute(context, sandboxes) : sandboxes);
  const spent = flags.wide ? await spentOf(context, sandboxes) : undefined;
  showList({ talk, found, sandboxes, isAll: input.all ?? false, spent });
}

/** By id. A sandbox of another repository is not asked. */
async function spentOf(context: Context, sandboxes: readonly SandboxSummary[]): Promise<ReadonlyMap<string, Spent>> {
  const { signal } = context;
  const litterbox = await context.litterbox();
  const cells = new Map<string, Spent>();
  const size = (count: number | undefined) => (count === undefined ? '' : bytes(count));
  for (const { id, name: sandbox, work } of sandboxes) {
    if (!work) continue;
    const usage = await litterbox.perform(readUsage, { sandbox }, { signal });
    const { callMs, now } = await litterbox.perform(readCompute, { sandbox }, { signal });
    cells.set(id, [
      tokensCell(usage),
      timeText(callMs),
      processorTime(now ?? {}),
      size(now?.memoryBytes),
      size(now?.diskBytes),
    ]);
  }
  return cells;
}

async function withCompute(context: Context, sandboxes: readonly SandboxSummary[]): Promise<readonly object[]> {
  const { signal } = context;
  const litterbox = await context.litterbox();
  const asked: object[] = [];
  for (const sandbox of sandboxes) {
    const { name, work } = sandbox;
    const compute = work && (await litterbox.perform(readCompute, { sandbox: name }, { signal }));
    asked.push({ ...sandbox, ...(compute && { compute }) });
  }
  return asked;
}

export const presented = {
  'sandbox-list': { operation: listSandboxes, present: list },
} as const;
