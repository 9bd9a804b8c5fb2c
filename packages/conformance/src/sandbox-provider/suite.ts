import assert from 'node:assert/strict';
import {
  type ControlName,
  type Host,
  type ProcessSpec,
  type SandboxProvider,
  type SandboxRoot,
  type SandboxRuntime,
  type SandboxSpec,
  isLitterboxError,
  LitterboxError,
  SandboxId,
} from '@litterbox/core/provider';
import { type Collected, collected } from '../collected.ts';
import { type FixtureFile, fixtureWorkspace } from '../fixture-workspace.ts';
import type { TestRunner } from '../runner.ts';
import { SharedSandbox } from './shared-sandbox.ts';

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
  /** How sandboxes are made where their test does not say it. @defaultValue the provider's own choice */
  readonly strategy?: string;
  /**
   * What this machine cannot give this provider: limits, to a rootless engine without control groups of its own; the freezer
   * (`pause`); a count of the processes that were refused, to a pod (`refused-processes`); a bound on the speed of the disk, with version 1 of control groups (`disk-speed`); on a file system that packs empty files, a
   * bound on their number besides that on their size (`disk-files`); to an engine with files of its own, file
   * systems in files (`disk`) and copies of layers (`copies`). Sandboxes are then made with `allowDegraded`, and the kit holds the provider to
   * refuse each of them by name, without that consent or where it is asked for. What is not named here has to hold; what is named and holds
   * all the same is a failure.
   *
   * @defaultValue nothing
   */
  readonly lacking?: readonly Lacking[];
  /** Milliseconds per test. @defaultValue 60_000 */
  readonly timeoutMs?: number;
}

/** What a machine may lack. */
export type Lacking =
  | Extract<ControlName, 'memory' | 'cpu' | 'processes'>
  | 'pause'
  | 'refused-processes'
  | 'disk'
  | 'disk-files'
  | 'disk-speed'
  | 'copies';

/** What is lacking and is a control: a sandbox is without it, where a person allows that. The rest is refused when it is asked for. */
export const lackedControls = (lacking: readonly Lacking[]) =>
  lacking.filter(
    (what) => !['pause', 'refused-processes', 'disk', 'disk-files', 'disk-speed', 'copies'].includes(what),
  );

/** What a test gets: a provider, a way to make sandboxes that are removed at its end, and a way to run things in them. */
export interface SandboxFixture {
  readonly provider: SandboxProvider;
  readonly host: Host;
  spec(changes?: Partial<SandboxSpec>): SandboxSpec;
  create(changes?: Partial<SandboxSpec>): Promise<SandboxRuntime>;
  /** One that other tests of the group use as well: for what leaves nothing in it that another test would meet. */
  shared(): Promise<SandboxRuntime>;
  /** Another instance over the same backend. */
  another(): Promise<SandboxProvider>;
  /** Removed at the end too. */
  adopt(id: SandboxId): void;
  /** As the machine's owner said, in {@link SandboxProviderOptions.lacking}. */
  readonly lacking: readonly Lacking[];
  /** Pauses; where the machine lacks the freezer, sees that this is refused by name, and says `false`: there is nothing more to test. */
  paused(runtime: SandboxRuntime): Promise<boolean>;
  sh(runtime: SandboxRuntime, script: string, changes?: Partial<ProcessSpec>): Promise<Collected>;
}

export type Check = (title: string, body: (fixture: SandboxFixture) => Promise<void>) => void;

/** A key under which nothing is kept yet. */
export function freshKey(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** What the provider lists now. */
export async function idsOf({ provider }: SandboxFixture): Promise<readonly SandboxId[]> {
  const ids: SandboxId[] = [];
  for await (const { id } of provider.list()) ids.push(id);
  return ids;
}

/** The content every sandbox of the kit starts with unless a test says otherwise. */
export const FIXTURE = [
  { path: 'README', content: 'read me\n' },
  { path: 'bin/tool', content: '#!/bin/sh\necho tool\n', executable: true },
  { path: 'link', linkTarget: 'README' },
  { path: 'dir/a', content: 'a\n' },
  { path: 'dir/sub/b', content: 'b\n' },
] as const;

/** What a sandbox lacks is told with what its user does. Whoever runs the kit has made the provider. */
function forAuthors(error: unknown): never {
  if (!isLitterboxError(error, 'DEGRADED')) throw error;
  const hint =
    'The kernel told of the first process what stands in parentheses. Isolation of @litterbox/linux-sandbox says what a place must be like; run the group isolation of the kit alone until it holds.';
  throw new LitterboxError(error.code, error.message, { ...error.details, hint }, { cause: error });
}

export function suite(
  { name, runner, open, host, root, strategy, lacking = [], timeoutMs = 60_000 }: SandboxProviderOptions,
  group: string,
  body: (check: Check) => void,
  /** The workspace of the sandbox that tests of the group share, where it is not {@link FIXTURE}. */
  sharedFiles: readonly FixtureFile[] = FIXTURE,
): void {
  const specOf = (provider: SandboxProvider, changes: Partial<SandboxSpec> = {}): SandboxSpec => {
    const id = changes.id ?? SandboxId.make();
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
      ...(strategy !== undefined && { strategy }),
      environment: {},
      limits: {},
      network: 'none',
      playground: id,
      allowDegraded: lackedControls(lacking).length > 0,
      ...changes,
    };
  };
  runner.describe(`SandboxProvider contract, ${group}: ${name}`, () => {
    const sharedChanges = sharedFiles === FIXTURE ? {} : { workspace: fixtureWorkspace('f2f2f2f2', sharedFiles) };
    const shared = new SharedSandbox(open, (provider) => specOf(provider, sharedChanges));
    const isShared = runner.afterAll !== undefined;
    runner.afterAll?.(() => shared[Symbol.asyncDispose](), timeoutMs);
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
            const made = specOf(provider, changes);
            ids.push(made.id);
            return made;
          };
          const create = async (changes?: Partial<SandboxSpec>) => {
            const runtime = await provider.create(spec(changes)).catch(forAuthors);
            runtimes.push(runtime);
            return runtime;
          };
          try {
            await test({
              provider,
              host,
              spec,
              another,
              adopt: (id) => void ids.push(id),
              lacking,
              async paused(runtime) {
                if (!lacking.includes('pause')) {
                  await runtime.pause();
                  return true;
                }
                await assert.rejects(runtime.pause(), (error) => isLitterboxError(error, 'UNSUPPORTED'));
                const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo on'] }));
                assert.equal(stdout, 'on\n', 'a pause that was refused leaves the sandbox as it was');
                return false;
              },
              create,
              shared: isShared ? () => shared.runtime() : () => create(sharedChanges),
              sh: async (runtime, script, changes) =>
                await collected(await runtime.spawn({ argv: ['sh', '-c', script], ...changes })),
            });
          } catch (error) {
            // What a test that failed left is nothing that the next one should fail of; how it failed is what is told.
            await shared[Symbol.asyncDispose]().catch(() => {});
            throw error;
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
