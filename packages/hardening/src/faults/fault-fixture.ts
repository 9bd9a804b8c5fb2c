import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLitterbox, type Litterbox, type LitterboxOptions } from 'litterbox';
import { RepositoryFixture } from '@litterbox/testing';
import { ClientProcess, type ClientOptions } from './client-process.ts';
import type { Failure, Job } from './job.ts';
import { PROVIDERS_UNDER_TEST, type ProviderUnderTest } from './provider-under-test.ts';
import { userDigest } from './user-digest.ts';

/** A scratch repository on which programs live and die; what was promised to them is written down for the checker. */
export interface FaultFixture extends RepositoryFixture {
  readonly provider: ProviderUnderTest;
  /** Commits that a call returned: they stay reachable for ever. */
  readonly acknowledged: Set<string>;
  /** What the user's repository must look like. */
  digest: ReadonlyMap<string, string>;
  /** Takes the user's repository as it is now for what it must look like: after an apply, a merge or the user's own work. */
  accept(): void;
  /** A commit of the user's own, so that the next base is a new one. */
  commit(path: string, content: string): void;
  /** One more program of this process on the repository. */
  open(options?: Partial<LitterboxOptions>): Litterbox;
  /** Opens, does one thing and closes, as the command line does. */
  once<Result>(work: (litterbox: Litterbox) => Promise<Result>): Promise<Result>;
  client(options?: ClientOptions): ClientProcess;
  /** Starts a client that is to die in the job. What it said of it before, if it did not. */
  dying(job: Job, options: ClientOptions): Promise<Death>;
}

export interface Death {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly ok?: unknown;
  readonly error?: Failure | undefined;
  readonly errors: string;
}

export function faultFixture(
  files?: Readonly<Record<string, string>>,
  parent?: string,
  provider: ProviderUnderTest = 'overlayfs',
): FaultFixture {
  const scratch = new RepositoryFixture(files, parent);
  const { repository, stateDirectory } = scratch;
  const acknowledged = new Set<string>();
  const opened = new Set<Litterbox>();
  const clients = new Set<ClientProcess>();
  const open = (options?: Partial<LitterboxOptions>) => {
    const litterbox = createLitterbox({
      repo: repository,
      stateDirectory,
      providers: [PROVIDERS_UNDER_TEST[provider]],
      ...options,
    });
    opened.add(litterbox);
    return litterbox;
  };
  const once = async <Result>(work: (litterbox: Litterbox) => Promise<Result>): Promise<Result> => {
    const litterbox = open();
    let result: Result;
    try {
      result = await work(litterbox);
    } catch (error) {
      await Promise.resolve(litterbox[Symbol.asyncDispose]()).catch(() => {}); // why the work failed matters more
      throw error;
    }
    await litterbox[Symbol.asyncDispose]();
    return result;
  };
  scratch.defer(async () => {
    for (const client of clients) await client[Symbol.asyncDispose]();
    for (const litterbox of opened) await litterbox[Symbol.asyncDispose]();
    try {
      await once(async (last) => {
        await last.reconcile();
        for (const { name } of await last.list()) await last.delete(name, { force: true });
      });
    } catch {
      // A test left it broken; what ran ended with its programs.
    }
  });
  const self: FaultFixture = Object.assign(scratch, {
    provider,
    acknowledged,
    digest: userDigest(repository),
    accept() {
      self.digest = userDigest(repository);
    },
    commit(path: string, content: string) {
      scratch.file(path, content);
      scratch.git('add', '-A');
      scratch.git('commit', '-q', '-m', `user: ${path}`);
      self.accept();
    },
    open,
    once,
    client(options?: ClientOptions) {
      const client = new ClientProcess(self, { provider, ...options });
      clients.add(client);
      return client;
    },
    async dying(job: Job, options: ClientOptions) {
      await using client = self.client(options);
      client.send(job);
      const reply = await client.reply();
      const { code, signal } = await client.ended();
      return { code, signal, ...reply, errors: client.errors };
    },
  });
  return self;
}

/** A file of the user's work tree; nothing when it is not there. */
export function userFile({ repository }: RepositoryFixture, path: string): string | undefined {
  const at = join(repository, path);
  return existsSync(at) ? readFileSync(at, 'utf8') : undefined;
}

/** One fixture for the tests of a file, in turn; a test that fails does not leave its fixture to the next. */
export function sharedFaultFixture(
  prepare: (fresh: FaultFixture) => Promise<void> = async () => {},
  provider?: ProviderUnderTest,
): {
  on(work: (fixture: FaultFixture) => Promise<void>): Promise<void>;
  close(): Promise<void>;
} {
  let shared: Promise<FaultFixture> | undefined;
  const close = async () => {
    const closing = shared;
    shared = undefined;
    await (await closing)?.[Symbol.asyncDispose]();
  };
  return {
    async on(work) {
      shared ??= (async () => {
        const fixture = faultFixture(undefined, undefined, provider);
        await prepare(fixture);
        return fixture;
      })();
      try {
        await work(await shared);
      } catch (error) {
        await close().catch(() => {}); // why the test failed matters more
        throw error;
      }
    },
    close,
  };
}
