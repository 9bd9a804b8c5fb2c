import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RuntimeStatus, SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';

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
    throw new LitterboxError('UNAVAILABLE', `${provider.name} cannot reach the engine or machine of the sandbox now.`, {
      operation: 'provider.ask',
      provider: provider.name,
      hint: advice`The sandbox has not been changed. Name the engine that made it; ${step('machine-check')} says which one answers.`,
    });
  }
  return undefined;
}
