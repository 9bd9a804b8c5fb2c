import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RepositoryFixture } from '@litterbox/testing';
import type { Failure, Job, Reply } from './job.ts';
import { engineEnvironment, type ProviderUnderTest } from './provider-under-test.ts';

const at = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const CLIENT = at('client.ts');
export const PRELOAD = at('failpoint-preload.ts');

export interface ClientOptions {
  /** As the preload reads it. */
  readonly failpoints?: string | undefined;
  /** What it is started with, such as strace or prlimit and their options. */
  readonly wrapper?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** @defaultValue overlayfs */
  readonly provider?: ProviderUnderTest;
}

/** A client program that runs. */
export class ClientProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #replies: AsyncIterator<string>;
  readonly #closed: Promise<readonly [number | null, NodeJS.Signals | null]>;
  errors = '';

  constructor({ repository, stateDirectory, directory }: RepositoryFixture, options: ClientOptions = {}) {
    const { failpoints, wrapper = [], environment, provider = 'overlayfs' } = options;
    const [program, ...args] = [
      ...wrapper,
      process.execPath,
      '--no-warnings',
      '--conditions=@litterbox/source',
      ...(failpoints === undefined ? [] : ['--import', PRELOAD]),
      CLIENT,
      repository,
      stateDirectory,
      provider,
    ];
    this.child = spawn(program, args, {
      cwd: directory,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        LC_ALL: 'C.UTF-8',
        GIT_CONFIG_NOSYSTEM: '1',
        NODE_COMPILE_CACHE: compileCache(),
        ...(provider !== 'overlayfs' && engineEnvironment()),
        ...(failpoints !== undefined && { LITTERBOX_FAILPOINT: failpoints }),
        ...environment,
      },
    });
    this.child.stdin?.on('error', () => {}); // it was killed before it read its job
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    const { stdout } = this.child;
    if (!stdout) throw new Error('The client has no stdout.');
    this.#replies = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.#closed = once(this.child, 'close').then(
      ([code, signal]) => [code as number | null, signal as NodeJS.Signals | null] as const,
    );
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Sends a job without waiting for its end. */
  send(job: Job): void {
    this.child.stdin?.write(`${JSON.stringify(job)}\n`);
  }

  /** The next line it says; nothing when it has ended. */
  async next(): Promise<Reply | undefined> {
    const line = await this.#replies.next();
    return line.done ? undefined : (JSON.parse(line.value) as Reply);
  }

  /** The next end of a job; nothing when the program ended instead. */
  async reply(): Promise<{ readonly ok?: unknown; readonly error?: Failure } | undefined> {
    for (let reply = await this.next(); reply; reply = await this.next()) if (!('during' in reply)) return reply;
    return undefined;
  }

  /** Sends a job and returns what it gave. */
  async do<Result>(job: Job): Promise<Result> {
    this.send(job);
    const reply = await this.reply();
    if (!reply) throw new Error(`The client ended during ${JSON.stringify(job)}: ${this.errors}`);
    if (reply.error) throw Object.assign(new Error(reply.error.message), reply.error);
    return reply.ok as Result;
  }

  /** Waits until a command of its job has said something. */
  async spoke(): Promise<void> {
    for (let reply = await this.next(); reply; reply = await this.next())
      if ('during' in reply && reply.during !== 'start') return;
    throw new Error(`The client said nothing: ${this.errors}`);
  }

  /** Waits until it has been frozen, by a failpoint or a signal. */
  async stopped(): Promise<void> {
    while (processState(this.pid) !== 'T' && this.child.exitCode === null && this.child.signalCode === null)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }

  /** Lets it end, if it is not dead. */
  async ended(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    this.child.stdin?.end();
    const [code, signal] = await this.#closed;
    return { code, signal };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin?.end();
    this.kill('SIGKILL');
    this.kill('SIGCONT');
    await this.#closed;
  }
}

/** State letter of a process in /proc, such as T for a frozen one; nothing when it is gone. */
export function processState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  } catch {
    return undefined;
  }
}

/** Node keeps what it compiled, so that the many programs of a test run start faster. */
function compileCache(): string {
  return join(fileURLToPath(new URL('../../dist', import.meta.url)), '.compile-cache');
}
