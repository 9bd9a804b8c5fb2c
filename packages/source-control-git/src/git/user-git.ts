import type { Readable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import type { Progress } from '@litterbox/core/provider';
import type { SimpleGit } from 'simple-git';
import { GitFailure } from './git-failure.ts';
import { progressReader } from './progress-reader.ts';
import {
  type GitCall,
  type GitCommand,
  type GitResult,
  type GitRunner,
  MAX_STDERR_CHARACTERS,
  missingGit,
} from './run-git.ts';
import { withoutProgress } from './without-progress.ts';

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** A clone prints progress and complaints; a server may send more, to fill this process's memory. */
const MAX_CLONE_OUTPUT_BYTES = 16 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * What simple-git asks to have allowed by name. Its guard is no boundary: our own settings trip it, because they name the same keys to
 * switch them off. Nobody else's words come before the verb, and the environment is ours from scratch.
 */
const ALLOWED = {
  allowAbbreviatedOptions: true, // else a program of the person's that git starts would inherit the prohibition
  allowUnsafeAskPass: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeCustomBinary: true,
  allowUnsafeEditor: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeHooksPath: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeTemplateDir: true,
} as const;

/** A call without standard input: what has some is plumbing, and goes through {@link GitRunner}. */
export type UserGitCall = Omit<GitCall, 'input' | 'cpuSeconds' | 'isBeforeVersion'>;

/** A bare clone into a directory that is not there yet. */
export interface CloneCall extends Omit<UserGitCall, 'args' | 'gitDirectory'> {
  /** `key=value`, on top of the sealed ones. */
  readonly settings: readonly string[];
  readonly url: string;
  readonly directory: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

interface Ended {
  readonly exitCode: number | null;
  readonly stdOut: readonly Buffer[];
  readonly stdErr: readonly Buffer[];
}

/**
 * The person's repository and clones by simple-git. Environment, settings, bounds and failures are those of {@link GitRunner}, which makes
 * the command. An agent's tree is never its directory.
 */
export class UserGit {
  readonly #git: GitRunner;

  constructor(git: GitRunner) {
    this.#git = git;
  }

  /** A non-zero exit is data. */
  async run(call: UserGitCall): Promise<GitResult> {
    const [command, simpleGit] = await Promise.all([this.#git.command(call), load()]);
    const bounds = { maxBytes: MAX_OUTPUT_BYTES, signal: call.signal };
    const { code, stdout, stderr } = await execute(simpleGit, command, bounds, (git) => git.raw([...command.args]));
    return { code, stdout, stderr: stderr.slice(0, MAX_STDERR_CHARACTERS) };
  }

  /** Standard output of a call that has to succeed. @throws GitFailure */
  async output(call: UserGitCall): Promise<Buffer> {
    const { code, stdout, stderr } = await this.run(call);
    if (code !== 0) throw new GitFailure(call.args, code, stderr);
    return stdout;
  }

  async text(call: UserGitCall): Promise<string> {
    return (await this.output(call)).toString().replace(/\n$/, '');
  }

  /** A non-zero exit is data. What `stderr` tells of a failure is free of progress. */
  async clone({ settings, url, directory, onProgress, ...call }: CloneCall): Promise<GitResult> {
    const [made, simpleGit] = await Promise.all([this.#git.command({ ...call, args: ['clone'] }), load()]);
    const command = { ...made, settings: [...made.settings, ...settings] };
    const onStderr = onProgress && progressReader(onProgress);
    const bounds = { maxBytes: MAX_CLONE_OUTPUT_BYTES, signal: call.signal, onStderr };
    // Its own progress plugin sees one line of each piece of output, and takes a server's words for git's.
    const words = [onProgress ? '--progress' : '--quiet', '--bare', '--template='];
    const { code, stdout, stderr } = await execute(simpleGit, command, bounds, (git) =>
      git.clone(url, directory, words),
    );
    return { code, stdout, stderr: withoutProgress(stderr).slice(0, MAX_STDERR_CHARACTERS) };
  }
}

interface Bounds {
  /** Of standard output and standard error together. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly onStderr?: ((piece: Uint8Array) => void) | undefined;
}

/** At the first question, for most commands ask none: it takes ten milliseconds, in which the program starts that tells git's version. */
const load = async () => await import('simple-git');

async function execute(
  { GitConstructError, simpleGit }: typeof import('simple-git'),
  { path, settings, args, cwd, environment }: GitCommand,
  { maxBytes, signal, onStderr }: Bounds,
  ask: (git: SimpleGit) => PromiseLike<unknown>,
): Promise<GitResult> {
  signal?.throwIfAborted();
  let bytes = 0;
  let ended: Ended | undefined;
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const git = simpleGit({
      baseDir: cwd,
      binary: path,
      config: [...settings],
      abort: stop.signal,
      // Not 50 ms after the exit, which is its default: a busy process has not read everything by then.
      completion: { onClose: true, onExit: false },
      input: () => NOTHING, // standard input is closed, not left open
      // Every end passes here, with the bytes that it would decode as UTF-8 otherwise. It decodes nothing for an error.
      errors(_error, result) {
        ended = result;
        return new Error('answered');
      },
      allowEnvironment: Object.keys(environment),
      unsafe: ALLOWED,
    });
    git.env({ ...environment }).outputHandler((_command, stdout, stderr) => {
      const count = (piece: Buffer) => {
        bytes += piece.length;
        if (bytes <= maxBytes) return;
        stop.abort();
        for (const stream of [stdout, stderr] as Readable[]) stream.destroy(); // nothing more is kept of who goes on
      };
      stdout.on('data', count);
      stderr.on('data', count);
      if (onStderr) stderr.on('data', onStderr);
      // It waits for 50 ms after a program that said nothing: an empty piece of output is a word to it.
      stdout.once('end', () => bytes === 0 && stdout.emit('data', NOTHING));
    });
    await ask(git);
  } catch (error) {
    if (ended === undefined) throw error instanceof GitConstructError ? notThere(cwd) : error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  if (signal?.aborted) throw signal.reason;
  if (bytes > maxBytes) throw new GitFailure(args, -1, `more than ${maxBytes} bytes of output`);
  const { exitCode, stdOut, stdErr } = ended as unknown as Ended;
  // Where no program was started, Node gives the number of the error in the place of an exit code.
  const systemCode = exitCode !== null && exitCode < 0 ? getSystemErrorName(exitCode) : undefined;
  if (systemCode === 'ENOENT') throw missingGit(path);
  if (systemCode !== undefined) throw systemError(systemCode, `${path} cannot be started`);
  const stderr = Buffer.concat(stdErr).toString();
  return {
    code: exitCode ?? -1,
    stdout: Buffer.concat(stdOut),
    stderr: exitCode === null ? `${stderr}(ended by a signal)` : stderr,
  };
}

const notThere = (directory: string) => systemError('ENOENT', `${directory} is not there`);

const systemError = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });
