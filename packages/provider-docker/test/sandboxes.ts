import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureWorkspace } from '@litterbox/conformance';
import { SandboxId, type SandboxProvider, type SandboxRuntime, type SandboxSpec } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { TEST_SOCKET } from './backend.ts';

/** A provider over the engine of the tests in a directory of its own, and sandboxes that are gone when it is disposed. */
export class Sandboxes implements AsyncDisposable {
  readonly directory: string;
  readonly provider: SandboxProvider;
  readonly #runtimes: SandboxRuntime[] = [];

  private constructor(directory: string, provider: SandboxProvider) {
    this.directory = directory;
    this.provider = provider;
  }

  /** @param directory the provider's, which goes with it */
  static async over(provider: SandboxProvider, directory: string): Promise<Sandboxes> {
    return new Sandboxes(directory, provider);
  }

  static async open(socket: string = TEST_SOCKET, directory?: string): Promise<Sandboxes> {
    const own = directory ?? (await mkdtemp(join(tmpdir(), 'litterbox-docker-')));
    const host = localHost();
    return new Sandboxes(own, docker({ host, facts: await host.facts(), directory: own, socket }));
  }

  spec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
    const id = changes.id ?? SandboxId.make();
    return {
      id,
      slug: 'test',
      repositoryId: '00000000-0000-4000-8000-000000000000',
      workspace: fixtureWorkspace('f1f1f1f1', [{ path: 'README', content: 'read me\n' }]),
      workdir: '/src',
      root: { type: 'image', reference: 'busybox:latest' },
      environment: {},
      limits: {},
      network: 'none',
      playground: id,
      allowDegraded: false,
      ...changes,
    };
  }

  async create(changes?: Partial<SandboxSpec>): Promise<SandboxRuntime> {
    const runtime = await this.provider.create(this.spec(changes));
    this.#runtimes.push(runtime);
    return runtime;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#runtimes) {
      await runtime[Symbol.asyncDispose]();
      await this.provider.remove(runtime.id);
    }
    await this.provider[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
