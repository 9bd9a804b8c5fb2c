import { type CallOptions, type ProviderFactory, providerKey, type SandboxProvider } from '@litterbox/core/provider';
import { openSshHost, type SshHostOptions } from './open-ssh-host.ts';

/** What {@link ssh} needs. */
export interface SshOptions extends SshHostOptions {
  /** Makes the sandboxes there: `overlayfs`, `docker`, `podman`, or another provider's factory. */
  readonly provider: ProviderFactory;
  /** Kind and machine for the provider's key, such as `overlayfs` and `build-box`, which make `overlayfs@build-box`. */
  readonly kind: string;
  readonly name: string;
  /** Absolute directory there in which the provider keeps its files. @defaultValue `litterbox` in the state directory of that user */
  readonly directory?: string;
}

/**
 * A provider on a machine that is reached over SSH. Disposing it closes the connection.
 *
 * @throws LitterboxError as {@link openSshHost}
 */
export async function ssh(options: SshOptions, call?: CallOptions): Promise<SandboxProvider> {
  const host = await openSshHost(options, call);
  try {
    const facts = await host.facts(call);
    const machine = {
      host,
      directory: options.directory ?? stateDirectory(host.environment, facts.homeDirectory),
    };
    const key = providerKey({ kind: options.kind, host: options.name });
    const provider = Object.assign(options.provider({ key, facts, ...machine }), { machine });
    const dispose = provider[Symbol.asyncDispose].bind(provider);
    provider[Symbol.asyncDispose] = async () => {
      try {
        await dispose();
      } finally {
        await host[Symbol.asyncDispose]();
      }
    };
    return provider;
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}

/** As on this machine: the XDG base directory specification. */
export function stateDirectory(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  const state = environment['XDG_STATE_HOME'];
  return `${state?.startsWith('/') ? state : `${home}/.local/state`}/litterbox`;
}
