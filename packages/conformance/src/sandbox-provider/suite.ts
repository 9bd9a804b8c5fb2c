import type {
  Host,
  ProcessSpec,
  SandboxProvider,
  SandboxRoot,
  SandboxRuntime,
  SandboxSpec,
} from '@litterbox/core/provider';
import { SandboxId } from '@litterbox/core/provider';
import { type Collected, collected } from '../collected.ts';
import { fixtureWorkspace } from '../fixture-workspace.ts';
import type { TestRunner } from '../runner.ts';

/** What {@link describeSandboxProvider} needs to know of a provider and its machine. */
export interface SandboxProviderOptions {
  readonly name: string;
  readonly runner: TestRunner;
  /** Returns a new provider over the same, already prepared backend, as another process would have it. Called once or more per test. */
  readonly open: () => Promise<SandboxProvider>;
  /** The machine the sandboxes run on, for what must not be visible inside; this machine by its own `spawn`. */
  readonly host: Host;
  /** A root file system other than the provider's own choice. @defaultValue the machine's programs, or the provider's default image */
  readonly root?: SandboxRoot;
  /** Milliseconds per test. @defaultValue 60_000 */
  readonly timeoutMs?: number;
}

/** What a test gets: a provider, a way to make sandboxes that are removed at its end, and a way to run things in them. */
export interface Bench {
  readonly provider: SandboxProvider;
  readonly host: Host;
  spec(changes?: Partial<SandboxSpec>): SandboxSpec;
  create(changes?: Partial<SandboxSpec>): Promise<SandboxRuntime>;
  /** Another instance over the same backend. */
  another(): Promise<SandboxProvider>;
  /** Removed at the end too. */
  adopt(id: SandboxId): void;
  sh(runtime: SandboxRuntime, script: string, changes?: Partial<ProcessSpec>): Promise<Collected>;
}

export type Check = (title: string, body: (bench: Bench) => Promise<void>) => void;

/** The content every sandbox of the kit starts with unless a test says otherwise. */
export const FIXTURE = [
  { path: 'README', content: 'read me\n' },
  { path: 'bin/tool', content: '#!/bin/sh\necho tool\n', executable: true },
  { path: 'link', linkTarget: 'README' },
  { path: 'dir/a', content: 'a\n' },
  { path: 'dir/sub/b', content: 'b\n' },
] as const;

export function suite(
  { name, runner, open, host, root, timeoutMs = 60_000 }: SandboxProviderOptions,
  group: string,
  body: (check: Check) => void,
): void {
  runner.describe(`SandboxProvider contract, ${group}: ${name}`, () => {
    body((title, test) => {
      runner.it(
        title,
        async () => {
          const providers: SandboxProvider[] = [];
          const runtimes: SandboxRuntime[] = [];
          const ids: SandboxId[] = [];
          const another = async () => {
            const provider = await open();
            providers.push(provider);
            return provider;
          };
          const provider = await another();
          const spec = (changes: Partial<SandboxSpec> = {}): SandboxSpec => {
            const id = changes.id ?? SandboxId.make();
            ids.push(id);
            return {
              id,
              slug: 'kit',
              repositoryId: '00000000-0000-4000-8000-000000000000',
              workspace: fixtureWorkspace('f1f1f1f1', FIXTURE),
              workdir: '/src',
              root:
                root ??
                (provider.traits.roots.includes('machine')
                  ? { type: 'machine' }
                  : { type: 'image', reference: 'busybox:latest' }),
              environment: {},
              limits: {},
              network: 'none',
              playground: id,
              allowDegraded: false,
              ...changes,
            };
          };
          try {
            await test({
              provider,
              host,
              spec,
              another,
              adopt: (id) => void ids.push(id),
              async create(changes) {
                const runtime = await provider.create(spec(changes));
                runtimes.push(runtime);
                return runtime;
              },
              sh: async (runtime, script, changes) =>
                await collected(await runtime.spawn({ argv: ['sh', '-c', script], ...changes })),
            });
          } finally {
            for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
            for (const id of ids) await provider.remove(id);
            for (const one of providers) await one[Symbol.asyncDispose]();
          }
        },
        timeoutMs,
      );
    });
  });
}
