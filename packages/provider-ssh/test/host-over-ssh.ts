import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSshHost, type SshHost } from '@litterbox/provider-ssh';
import { SshServer } from '@litterbox/testing';

/** A host over a server of its own, and a directory there. */
export interface HostOverSsh extends AsyncDisposable {
  readonly host: SshHost;
  readonly directory: string;
}

/** Starts a server on this machine and logs in there. */
export async function hostOverSsh(): Promise<HostOverSsh> {
  const server = await SshServer.start();
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-over-ssh-'));
  const host = await openSshHost(server.login);
  return {
    host,
    directory,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
