import { realpathSync, statSync } from 'node:fs';
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LitterboxError, shown } from '@litterbox/core/provider';
import { GitFailure, oneLine } from '../git/git-failure.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import type { GitCall, GitResult, GitRunner } from '../git/run-git.ts';
import { requireFormat } from '../store/store.ts';
import { ownRoot } from './own-repository.ts';
import { UserGit, type UserGitCall } from '../git/user-git.ts';

const OPERATION = 'repository.open';

/** The person's repository as found on disk. Looking at it changes nothing. */
export interface UserRepository {
  /** Real path of the work tree. */
  readonly root: string;
  /** False for the one that Litterbox made for sandboxes without a repository. */
  readonly isPersons: boolean;
  /** `.git`, or the one of a linked work tree. */
  readonly gitDirectory: string;
  /** What all work trees of the repository share. */
  readonly commonDirectory: string;
  readonly format: ObjectFormat;
  /** A call of git in it, without the person's own configuration unless asked. */
  call(args: readonly string[], options?: Partial<GitCall>): GitCall;
  /** By simple-git: questions, and refs. A non-zero exit is data. */
  run(args: readonly string[], options?: UserCallOptions): Promise<GitResult>;
  text(args: readonly string[], options?: UserCallOptions): Promise<string>;
  output(args: readonly string[], options?: UserCallOptions): Promise<Buffer>;
  /** By us: what has standard input, writes index or files, or is on the way to a revision. */
  readonly plumbing: UserPlumbing;
}

type UserCallOptions = Partial<Omit<UserGitCall, 'args'>>;

interface UserPlumbing {
  run(args: readonly string[], options?: Partial<GitCall>): Promise<GitResult>;
  text(args: readonly string[], options?: Partial<GitCall>): Promise<string>;
  output(args: readonly string[], options?: Partial<GitCall>): Promise<Buffer>;
  stream(args: readonly string[], options?: Partial<GitCall>): AsyncIterable<Buffer>;
}

/** @throws LitterboxError `NOT_A_REPO`, `INSIDE_GIT_DIR`, `BARE_REPO`, `REPO_OWNER`, `REPO_CORRUPT`, `NOT_FOUND`. */
export async function findUserRepository(git: GitRunner, path: string, signal?: AbortSignal): Promise<UserRepository> {
  const start = realDirectory(path);
  // As the person: their own safe.directory counts, and nobody adds to it.
  const ask = (...args: readonly string[]) =>
    git.run({ setting: 'user', cwd: start, args: ['rev-parse', ...args], signal, isBeforeVersion: true });
  const asked = await ask(
    '--is-inside-git-dir',
    '--is-bare-repository',
    '--is-inside-work-tree',
    '--show-object-format',
    '--path-format=absolute',
    '--git-dir',
    '--git-common-dir',
    '--show-toplevel',
  );
  const lines = linesOf(asked.stdout);
  const [insideGitDirectory, bare, insideWorkTree, formatName = '', ...paths] = lines;
  const isPlain = asked.code === 0 && paths.length === 3;
  if (!isPlain) await git.version(); // one that is too old explains the rest
  if (asked.code !== 0 && lines.length < 6) throw await explainFailure(start, asked.stderr);
  if (insideWorkTree !== 'true') {
    if (bare === 'true') {
      throw new LitterboxError('BARE_REPO', `${shown(start)} is a bare repository.`, {
        operation: OPERATION,
        hint: 'Use a clone that has a work tree.',
      });
    }
    if (insideGitDirectory === 'true') {
      throw new LitterboxError('INSIDE_GIT_DIR', `${shown(start)} is inside a git directory.`, {
        operation: OPERATION,
        hint: 'Change to the work tree.',
      });
    }
  }
  if (asked.code !== 0) throw new GitFailure(['rev-parse', '--show-toplevel'], asked.code, asked.stderr);
  // Names may hold newlines: with the last path known, the two before it can be told from each other.
  const top = isPlain ? [] : linesOf((await ask('--show-toplevel')).stdout);
  const [gitDirectory = '', commonDirectory = '', topLevel = top.join('\n')] = isPlain
    ? paths
    : splitPaths(paths.slice(0, -top.length));
  const root = await realpath(topLevel);
  const found = {
    root,
    isPersons: root !== (await realpath(ownRoot(git)).catch(() => undefined)),
    gitDirectory: await realpath(gitDirectory),
    commonDirectory: await realpath(commonDirectory),
    format: requireFormat(formatName),
  };
  const call = (args: readonly string[], options?: Partial<GitCall>): GitCall => ({
    setting: 'sealed',
    gitDirectory: found.gitDirectory,
    cwd: root,
    ...options,
    // git just accepted the owner by the person's own configuration, which the sealed setting does not read.
    args: ['-c', `safe.directory=${root}`, ...args],
    environment: { GIT_WORK_TREE: root, ...options?.environment },
  });
  const userGit = new UserGit(git);
  return {
    ...found,
    call,
    run: (args, options) => userGit.run(call(args, options)),
    text: (args, options) => userGit.text(call(args, options)),
    output: (args, options) => userGit.output(call(args, options)),
    plumbing: {
      run: (args, options) => git.run(call(args, options)),
      text: (args, options) => git.text(call(args, options)),
      output: (args, options) => git.output(call(args, options)),
      stream: (args, options) => git.stream(call(args, options)),
    },
  };
}

function linesOf(output: Buffer): readonly string[] {
  return output.toString().replace(/\n$/, '').split('\n');
}

/** Two absolute paths, one a line, either of which may hold newlines. */
function splitPaths(lines: readonly string[]): readonly string[] {
  if (lines.length <= 2) return lines;
  const middle = lines.findIndex((line, index) => index > 0 && line.startsWith('/'));
  return [lines.slice(0, middle).join('\n'), lines.slice(middle).join('\n')];
}

/** At once, as git is started then: {@link GitCall.isBeforeVersion}. */
function realDirectory(path: string): string {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : dirname(real);
  } catch (cause) {
    throw new LitterboxError(
      'NOT_FOUND',
      `${shown(path)} is not there.`,
      { operation: OPERATION, hint: 'Name a directory in a repository.' },
      { cause },
    );
  }
}

/** git has one exit code for all of it, so the file system is asked. */
async function explainFailure(start: string, stderr: string): Promise<LitterboxError> {
  const cause = new GitFailure(['rev-parse'], 128, stderr);
  for (let directory = start; ; directory = dirname(directory)) {
    const entry = join(directory, '.git');
    const found = await lstat(entry).catch(() => undefined);
    const bare = await isBareRepository(directory);
    if (found || bare) {
      const looked = bare ? directory : entry;
      const owner = (found ?? (await stat(directory))).uid;
      const uids = new Set([owner, (await stat(directory)).uid]);
      uids.delete(process.getuid?.() ?? owner);
      const [other] = uids;
      if (other !== undefined) {
        return new LitterboxError(
          'REPO_OWNER',
          `The repository ${shown(directory)} belongs to user ${other}.`,
          {
            operation: OPERATION,
            hint: 'Run as its owner, or allow it yourself with git config --global --add safe.directory.',
          },
          { cause },
        );
      }
      return new LitterboxError(
        'REPO_CORRUPT',
        `git cannot read the repository ${shown(looked)}: ${oneLine(stderr)}`,
        { operation: OPERATION, hint: 'Look at it with git status and git fsck.' },
        { cause },
      );
    }
    if (directory === dirname(directory)) break;
  }
  return new LitterboxError(
    'NOT_A_REPO',
    `${shown(start)} is not in a git repository.`,
    { operation: OPERATION, hint: 'Change into one, or make one: git init.' },
    { cause },
  );
}

async function isBareRepository(directory: string): Promise<boolean> {
  const head = await readFile(resolve(directory, 'HEAD'), 'latin1').catch(() => undefined);
  return head !== undefined && (await stat(join(directory, 'objects')).catch(() => undefined)) !== undefined;
}
