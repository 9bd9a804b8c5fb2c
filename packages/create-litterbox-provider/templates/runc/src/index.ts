import { type SandboxProvider, type ProviderMachine } from '@litterbox/core/provider';
import { placeProvider } from '@litterbox/linux-sandbox';
import { isolation } from './isolation.ts';

/** Sandboxes by runc, on the machine that is given. Does nothing until it is asked. */
export function provider({ key, host, directory }: ProviderMachine): SandboxProvider {
  return placeProvider({ ...(key !== undefined && { key }), host, directory, isolation });
}
