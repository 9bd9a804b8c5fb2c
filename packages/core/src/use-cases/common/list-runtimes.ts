import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RuntimeStatus, SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';

/** A provider's runtimes by id: one question, however many there are. */
export async function listRuntimes(
  provider: Pick<SandboxProvider, 'list'>,
  options?: CallOptions,
): Promise<ReadonlyMap<SandboxId, RuntimeStatus>> {
  const statuses = new Map<SandboxId, RuntimeStatus>();
  for await (const status of provider.list(options)) statuses.set(status.id, status);
  return statuses;
}
