import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host, SandboxProvider } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { PrivateEngine, type PrivateEngineOptions } from './private-engine.ts';
import { freePort, TlsFiles } from './tls-files.ts';

/** An engine that listens on a port for clients with a certificate, and a directory of this machine that it does not see. */
export class EngineOverTls implements AsyncDisposable {
  readonly engine: PrivateEngine;
  readonly files: TlsFiles;
  readonly directory: string;
  readonly port: number;

  private constructor(engine: PrivateEngine, files: TlsFiles, directory: string, port: number) {
    this.engine = engine;
    this.files = files;
    this.directory = directory;
    this.port = port;
  }

  static async start(options: Pick<PrivateEngineOptions, 'hasDebian'> = {}): Promise<EngineOverTls> {
    const files = new TlsFiles();
    const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
    try {
      const port = await freePort();
      const engine = await PrivateEngine.start({ ...options, hidden: directory, tls: { port, files } });
      return new EngineOverTls(engine, files, directory, port);
    } catch (error) {
      files[Symbol.dispose]();
      throw error;
    }
  }

  /** This machine, as a login has it that shows the certificate of that directory. */
  host(client = 'client', port = this.port): Host {
    return tlsHost(`tcp://127.0.0.1:${port}`, this.files.path(client));
  }

  async provider(host = this.host()): Promise<SandboxProvider> {
    return docker({ host, facts: await host.facts(), directory: this.directory });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    this.files[Symbol.dispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** This machine, with what `docker` reads from its environment. */
export function tlsHost(address: string, certificates: string): Host {
  const environment = { DOCKER_HOST: address, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates };
  return { ...localHost(), environment };
}
