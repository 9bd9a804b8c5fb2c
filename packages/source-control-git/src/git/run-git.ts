import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { LitterboxError } from '@litterbox/core/provider';
import { GitFailure } from './git-failure.ts';
import { sealedEnvironment, sealedSettings, userEnvironment, userSettings } from './git-settings.ts';

/** `merge-tree --write-tree` came with it. */
const OLDEST_VERSION = [2, 38] as const;
/** Newer than any: with every setting that some version knows. Git passes over those that it does not. */
const ANY_VERSION = [Number.MAX_SAFE_INTEGER, 0] as const;
export const MAX_STDERR_CHARACTERS = 16_384;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const USUAL_DIRECTORIES = ['/usr/bin', '/usr/local/bin', '/bin', '/opt/homebrew/bin', '/run/current-system/sw/bin'];

export interface GitCall {
  /** `sealed`: no configuration but ours and the repository's own. `user`: as the person runs git, hooks off. */
  readonly setting: 'sealed' | 'user';
  readonly args: readonly string[];
  readonly cwd: string;
  readonly gitDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
  /** Processor time after which the kernel ends it, also when we are gone: for what an agent's words keep busy. */
  readonly cpuSeconds?: number;
  /** Starts before it is known which version git is: what is asked, every version can answer. */
  readonly isBeforeVersion?: boolean;
}

/** One run of git, made: everything that is set for it, whoever starts it. */
export interface GitCommand {
  readonly path: string;
  /** `key=value`, each for a `-c` of its own. */
  readonly settings: readonly string[];
  /** What comes behind the settings. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing of this process's own is added. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  kill(): void;
  /** Lets Node exit while the process idles. */
  idle(isIdle: boolean): void;
}

export interface GitOptionsForRunning {
  readonly binary: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Empty private directory that stands in for HOME. */
  readonly home: string;
}

/**
 * Makes every command of git, and starts the plumbing: what has standard input, is read as it comes, or records. {@link UserGit} starts
 * the rest.
 */
export class GitRunner {
  readonly #options: GitOptionsForRunning;
  #path: string | undefined;
  #version: Promise<readonly [number, number]> | undefined;

  constructor(options: GitOptionsForRunning) {
    this.#options = options;
  }

  get home(): string {
    return this.#options.home;
  }

  /** HOME and the like of the person, for finding their files. */
  get userEnvironment(): Readonly<Record<string, string>> {
    return userEnvironment(this.#options.environment);
  }

  async version(): Promise<readonly [number, number]> {
    this.#version ??= this.#readVersion().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return await this.#version;
  }

  async isAtLeast(major: number, minor: number): Promise<boolean> {
    const [gotMajor, gotMinor] = await this.version();
    return gotMajor > major || (gotMajor === major && gotMinor >= minor);
  }

  /** A non-zero exit is data. */
  async run(call: GitCall): Promise<GitResult> {
    const process = await this.start(call);
    const chunks: Buffer[] = [];
    let size = 0;
    const reading = (async () => {
      for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) {
          process.kill();
          throw new GitFailure(call.args, -1, `more than ${MAX_OUTPUT_BYTES} bytes of output`);
        }
        chunks.push(chunk);
      }
    })();
    const writing = feed(process, call.input);
    const [{ code, stderr }] = await Promise.all([process.ended, reading, writing]);
    return { code, stderr, stdout: Buffer.concat(chunks) };
  }

  /** Standard output of a call that has to succeed. @throws GitFailure */
  async output(call: GitCall): Promise<Buffer> {
    const { code, stdout, stderr } = await this.run(call);
    if (code !== 0) throw new GitFailure(call.args, code, stderr);
    return stdout;
  }

  async text(call: GitCall): Promise<string> {
    return (await this.output(call)).toString().replace(/\n$/, '');
  }

  /** Standard output as it comes. Leaving the loop early kills the process. @throws GitFailure */
  async *stream(call: GitCall): AsyncGenerator<Buffer, void, undefined> {
    await using process = await this.start(call);
    const writing = feed(process, call.input);
    writing.catch(() => process.kill());
    for await (const chunk of process.stdout as AsyncIterable<Buffer>) yield chunk;
    const { code, stderr } = await process.ended;
    call.signal?.throwIfAborted();
    await writing;
    if (code !== 0) throw new GitFailure(call.args, code, stderr);
  }

  async start(call: GitCall): Promise<GitProcess> {
    const version = call.isBeforeVersion ? ANY_VERSION : await this.version();
    const { path, settings, args, cwd, environment } = this.#commandOf(call, version);
    call.signal?.throwIfAborted();
    const words = [...settings.flatMap((setting) => ['-c', setting]), ...args];
    const limited = ['-c', 'ulimit -t "$0" && exec "$@"', String(call.cpuSeconds), path, ...words];
    const child = spawn(
      ...(call.cpuSeconds === undefined ? ([path, words] as const) : (['/bin/sh', limited] as const)),
      {
        cwd,
        env: environment,
        stdio: ['pipe', 'pipe', 'pipe'],
        shell: false,
      },
    );
    return await handle(child, call);
  }

  /** For {@link UserGit}. */
  async command(call: GitCall): Promise<GitCommand> {
    return this.#commandOf(call, await this.version());
  }

  #commandOf(call: GitCall, version: readonly [number, number]): GitCommand {
    const isSealed = call.setting === 'sealed';
    const where = call.gitDirectory === undefined ? [] : [`--git-dir=${call.gitDirectory}`];
    return {
      path: this.#locate(),
      settings: isSealed ? sealedSettings(version) : userSettings(version),
      args: [...where, ...call.args],
      cwd: call.cwd,
      environment: {
        ...(isSealed ? sealedEnvironment(this.#options.home) : userEnvironment(this.#options.environment)),
        ...call.environment,
      },
    };
  }

  #locate(): string {
    this.#path ??= this.#findBinary();
    return this.#path;
  }

  async #readVersion(): Promise<readonly [number, number]> {
    const path = this.#locate();
    const child = spawn(path, ['version'], { cwd: '/', env: { LC_ALL: 'C' }, stdio: ['pipe', 'pipe', 'pipe'] });
    const process = await handle(child, { setting: 'sealed', args: ['version'], cwd: '/' });
    let text = '';
    for await (const chunk of process.stdout as AsyncIterable<Buffer>) text += chunk.toString();
    await process.ended;
    const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(text) ?? [];
    if (major === undefined || minor === undefined)
      throw new LitterboxError('TOOL_MISSING', `${JSON.stringify(path)} does not say which version of git it is.`, {
        operation: 'git.start',
        hint: 'Install git 2.38 or newer, and look at what git version says.',
      });
    const version = [Number(major), Number(minor)] as const;
    if (version[0] < OLDEST_VERSION[0] || (version[0] === OLDEST_VERSION[0] && version[1] < OLDEST_VERSION[1])) {
      throw new LitterboxError(
        'GIT_TOO_OLD',
        `git is ${version.join('.')}, at least ${OLDEST_VERSION.join('.')} is needed.`,
        {
          operation: 'git.start',
          hint: 'Install a newer git.',
        },
      );
    }
    return version;
  }

  /** At once, so that a call that need not know the version has started git when it returns: what is loaded next is loaded beside it. */
  #findBinary(): string {
    const { binary, environment } = this.#options;
    if (binary !== undefined) {
      if (!isAbsolute(binary) || !isExecutable(binary)) throw missingGit(binary);
      return binary;
    }
    const listed = (environment['PATH'] ?? '').split(':').filter((directory) => isAbsolute(directory));
    for (const directory of [...USUAL_DIRECTORIES, ...listed]) {
      if (isExecutable(join(directory, 'git'))) return join(directory, 'git');
    }
    throw missingGit('git');
  }
}

export function missingGit(binary: string): LitterboxError {
  return new LitterboxError('TOOL_MISSING', `No git program at ${JSON.stringify(binary)}.`, {
    operation: 'git.start',
    hint: 'Install git 2.38 or newer.',
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function handle(child: ChildProcessByStdio<Writable, Readable, Readable>, call: GitCall): Promise<GitProcess> {
  // Without a descriptor that is free, Node makes no pipes and says why a moment later.
  if (!(child.stdin as Writable | undefined)) {
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  }
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_CHARACTERS) stderr += text.slice(0, MAX_STDERR_CHARACTERS - stderr.length);
  });
  // A process that ended before it read everything is reported by its exit code.
  child.stdin.on('error', () => {});
  const kill = () => void child.kill('SIGKILL');
  call.signal?.addEventListener('abort', kill, { once: true });
  const ended = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missingGit(child.spawnfile) : error);
    });
    child.once('close', (code, signal) => {
      call.signal?.removeEventListener('abort', kill);
      if (call.signal?.aborted) reject(call.signal.reason as Error);
      else resolve({ code: code ?? -1, stderr: signal === null ? stderr : `${stderr}(${signal})` });
    });
  });
  ended.catch(() => {}); // whoever awaits it sees the rejection
  const idle = (isIdle: boolean) => {
    const pipes = [child, child.stdin, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[];
    for (const pipe of pipes) {
      if (isIdle) pipe.unref();
      else pipe.ref();
    }
  };
  return {
    pid: child.pid ?? -1,
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    kill,
    idle,
    async [Symbol.asyncDispose]() {
      idle(false); // its end is waited for, whether or not anything else keeps this program alive
      kill();
      child.stdout.destroy();
      await ended.catch(() => {});
    },
  };
}

async function feed(process: GitProcess, input: GitCall['input']): Promise<void> {
  const { stdin } = process;
  if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) {
    stdin.end(input);
    return;
  }
  let isOpen = true;
  stdin.once('close', () => (isOpen = false));
  try {
    for await (const bytes of input) {
      if (!isOpen) return; // it ended early: its exit code says why
      if (!stdin.write(bytes)) await drained(stdin);
    }
    stdin.end();
  } catch (error) {
    process.kill();
    throw error;
  }
}

/** Resolves when more may be written, or when nobody will read any more. */
export function drained(stream: Writable): Promise<void> {
  if (stream.destroyed || !stream.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
