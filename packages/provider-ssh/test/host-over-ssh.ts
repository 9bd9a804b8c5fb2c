import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { openSshHost, type SshHost } from '@litterbox/provider-ssh';
import { SshServer } from '@litterbox/testing';

/** A host over a server of its own, and a directory there. */
export interface HostOverSsh extends AsyncDisposable {
  readonly host: SshHost;
  readonly directory: string;
  /** Who is logged in. */
  readonly user: string;
}

/** Starts a server in a network of its own and logs in there, as the user that `LITTERBOX_TEST_LOGIN` names, or as who runs the test. */
export async function hostOverSsh(): Promise<HostOverSsh> {
  const user = process.env['LITTERBOX_TEST_LOGIN'] ?? userInfo().username;
  const server = await SshServer.startApart({ user });
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-over-ssh-'));
  execFileSync('chown', [user, directory]);
  const host = await openSshHost(server.login);
  return {
    host,
    directory,
    user,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
