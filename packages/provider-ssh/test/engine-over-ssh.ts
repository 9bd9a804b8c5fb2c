import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host, SandboxProvider } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '@litterbox/provider-docker';
import { podman } from '@litterbox/provider-podman';
import { openSshHost } from '@litterbox/provider-ssh';
import { SshServer } from '@litterbox/testing';

/** Where tools/test-host lets the engines of the tests listen, and what names an engine to their commands. */
const ENGINES = {
  docker: { factory: docker, variable: 'DOCKER_HOST', socket: '/var/lib/litterbox-test/run/docker.sock' },
  podman: { factory: podman, variable: 'CONTAINER_HOST', socket: '/var/lib/litterbox-test/run/podman.sock' },
} as const;

export type EngineKind = keyof typeof ENGINES;

/** What makes a provider of a test different from a plain one. */
interface Wanted {
  /** Of the socket there. @defaultValue the engine's */
  readonly path?: string;
  /** Whether the server's key is known. @defaultValue true */
  readonly knows?: boolean;
}

/**
 * The engine of the tests behind an SSH server of a test's own. That it could see this machine's files counts for nothing: an engine that is
 * reached over SSH is taken for one of another machine.
 */
export class EngineOverSsh implements AsyncDisposable {
  readonly server: SshServer;
  /** Of the provider, on this machine. */
  readonly directory: string;

  readonly #kind: EngineKind;

  private constructor(kind: EngineKind, server: SshServer, directory: string) {
    this.#kind = kind;
    this.server = server;
    this.directory = directory;
  }

  static async start(kind: EngineKind = 'docker'): Promise<EngineOverSsh> {
    const directory = await mkdtemp(join(tmpdir(), `litterbox-${kind}-`));
    return new EngineOverSsh(kind, await SshServer.startApart(), directory);
  }

  async provider({ path = ENGINES[this.#kind].socket, knows = true }: Wanted = {}): Promise<SandboxProvider> {
    const address = `ssh://${this.server.destination}${path}`;
    const { factory, variable } = ENGINES[this.#kind];
    const host: Host = { ...localHost(), environment: { [variable]: address } };
    const { login } = this.server;
    const client = knows ? login.client : { home: '/nowhere', environment: {} };
    return factory({
      host,
      facts: await host.facts(),
      directory: this.directory,
      openMachine: async (asked, call) => await openSshHost({ ...login, ...asked, ...(client && { client }) }, call),
    });
  }

  /** Ends every login, and lets new ones in. */
  cut(): void {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const status = readStatus(Number(name));
      if (status?.includes(`\nPPid:\t${this.server.pid}\n`)) process.kill(Number(name), 'SIGKILL');
    }
  }

  /** Of the volumes that were made. */
  async volumes(): Promise<readonly string[]> {
    const engines = join(this.directory, this.#kind, 'engines');
    const keys = await readdir(engines).catch(() => []);
    const texts = await Promise.all(keys.map((key) => readFile(join(engines, key, 'place.json'), 'utf8')));
    return texts.map((text) => (JSON.parse(text) as { readonly name: string }).name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    const volumes = await this.volumes();
    const { socket } = ENGINES[this.#kind];
    const engine = this.#kind === 'docker' ? ['docker', '-H'] : ['podman', '--remote', '--url'];
    const [command = '', ...options] = [...engine, `unix://${socket}`, 'volume', 'rm', ...volumes];
    if (volumes.length > 0) execFileSync(command, options, { stdio: 'ignore' });
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** `undefined` for a process that has ended meanwhile. */
function readStatus(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return undefined;
  }
}
