import type { CommandShell } from '../channel/command-shell.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { FindShell } from '../use-cases/work/find-shell.ts';
import { ListSandboxes, type ShownState } from '../use-cases/review/list-sandboxes.ts';
import type { UseCases } from './declare/operation.ts';

/** The state of a sandbox as a list shows it, and what runs its texts of commands: only one that answers is opened to find that out. */
export async function stateAndShell(
  useCases: UseCases,
  record: SandboxRecord,
  options?: CallOptions,
): Promise<{ readonly state: ShownState; readonly shell?: CommandShell }> {
  const state = await useCases.get(ListSandboxes).state(record, options);
  if (state !== 'ready' && state !== 'setup-failed') return { state };
  const shell = await useCases.get(FindShell).find(record, options);
  return { state, ...(shell && { shell }) };
}
