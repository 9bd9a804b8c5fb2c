import type { SandboxId } from '../domain/ids.ts';
import type { CallOptions } from '../ports/call.ts';
import type { RuntimeStatus, SandboxProvider } from '../ports/sandbox-provider.ts';

/** What the provider says of one of its sandboxes; nothing when it has none of that id. */
export async function runtimeState(
  provider: SandboxProvider,
  id: SandboxId,
  options?: CallOptions,
): Promise<RuntimeStatus['state'] | undefined> {
  for await (const status of provider.list(options)) if (status.id === id) return status.state;
  return undefined;
}
