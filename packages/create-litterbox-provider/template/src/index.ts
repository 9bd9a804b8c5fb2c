import { type Host, type SandboxProvider } from '@litterbox/core/provider';
import { placeProvider } from '@litterbox/linux-sandbox';
import { isolation } from './isolation.ts';

export interface Options {
  /** The machine that sandboxes run on. */
  readonly host: Host;
  /** Absolute directory on the host in which the provider makes its own. */
  readonly directory: string;
}

/** Sandboxes by runc. Does nothing until it is asked. */
export function provider({ host, directory }: Options): SandboxProvider {
  return placeProvider({ host, directory, isolation });
}
