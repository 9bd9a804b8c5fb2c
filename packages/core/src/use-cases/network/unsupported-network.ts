import { LitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** For a sandbox that is to reach the network, of a runtime that leads nowhere. */
export function unsupportedNetwork({ provider, policy }: Pick<SandboxRecord, 'provider' | 'policy'>): LitterboxError {
  const key = policy.network.setup === 'none' ? 'network.run' : 'network.setup';
  return new LitterboxError('UNSUPPORTED', `${key} is not supported (provider ${provider}).`, {
    operation: 'sandbox.create',
    provider,
    hint: `Remove ${key}, or use another provider.`,
  });
}
