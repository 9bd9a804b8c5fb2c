import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '@litterbox/provider-docker';
import { openSshHost } from '@litterbox/provider-ssh';
import { PrivateEngine } from '../../provider-docker/test/private-engine.ts';
import { SshServer } from './ssh-server.ts';

/** An engine behind a server of a test's own, and a directory of this machine that the engine does not see. */
export class EngineOverSsh implements AsyncDisposable {
  readonly server: SshServer;
  readonly engine: PrivateEngine;
  readonly directory: string;

  private constructor(server: SshServer, engine: PrivateEngine, directory: string) {
    this.server = server;
    this.engine = engine;
    this.directory = directory;
  }

  static async start(): Promise<EngineOverSsh> {
    const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
    const server = await SshServer.start();
    return new EngineOverSsh(server, await PrivateEngine.start({ hidden: directory }), directory);
  }

  /** @param path of the socket there; the engine's own without */
  async provider({
    path = this.engine.socket,
    knows = true,
  }: {
    readonly path?: string;
    readonly knows?: boolean;
  } = {}) {
    const address = `ssh://${this.server.destination}${path}`;
    const host: Host = { ...localHost(), environment: { DOCKER_HOST: address } };
    return docker({
      host,
      facts: await host.facts(),
      directory: this.directory,
      openMachine: async (login, call) =>
        await openSshHost(
          { ...this.server.login, ...login, ...(!knows && { client: { home: '/nowhere', environment: {} } }) },
          call,
        ),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
