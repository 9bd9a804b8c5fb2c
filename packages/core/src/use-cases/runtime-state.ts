import { LitterboxError } from '../domain/errors.ts';
import type { SandboxId } from '../domain/ids.ts';
import type { CallOptions } from '../ports/call.ts';
import type { RuntimeStatus, SandboxProvider } from '../ports/sandbox-provider.ts';

/**
 * What the provider says of one of its sandboxes; nothing when it has none of that id.
 *
 * @throws LitterboxError `UNAVAILABLE` for one that the provider does not reach now: nothing may be concluded from that
 */
export async function runtimeState(
  provider: SandboxProvider,
  id: SandboxId,
  options?: CallOptions,
): Promise<Exclude<RuntimeStatus['state'], 'unreachable'> | undefined> {
  for await (const status of provider.list(options)) {
    if (status.id !== id) continue;
    if (status.state !== 'unreachable') return status.state;
    throw new LitterboxError(
      'UNAVAILABLE',
      `The sandbox is on an engine or a machine that ${provider.name} does not reach now.`,
      {
        operation: 'provider.ask',
        provider: provider.name,
        hint: 'It is as it was. Name the engine on which it was made: litterbox doctor tells which one is reached.',
      },
    );
  }
  return undefined;
}
