import { agentPath } from '../../domain/paths/agent-path.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { InspectSandbox } from './inspect-sandbox.ts';

export interface ReadCloneInput {
  readonly sandbox: string;
  readonly action: 'status' | 'log' | 'diff' | 'show';
  /** The directory of a clone in the playground. */
  readonly path: string;
  readonly revision?: string | undefined;
  readonly limit: number;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 256 * 1024;
/** Names of commits as people write them; never an option, never an expression with effects. */
const REVISION = /^[A-Za-z0-9_][A-Za-z0-9_./^~@{}-]{0,199}$/;

interface Needs {
  readonly inspectSandbox: InspectSandbox;
}

/** Reads a clone in a sandbox's playground with the git of the sandbox: whatever that clone is, it is the sandbox's own business. */
export class ReadClone {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `PATH_OUTSIDE_WORKDIR`, `REV_INVALID`, `NOT_A_REPO`. */
  async read({ sandbox, action, path, revision, limit }: ReadCloneInput, options?: CallOptions): Promise<string> {
    if (revision !== undefined && !REVISION.test(revision))
      throw new LitterboxError('REV_INVALID', `${shown(revision)} does not name one commit.`, {
        operation: 'git.read',
        hint: 'Give a commit, a branch or a tag.',
      });
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-git',
        input: { action, path: path.slice(0, 4096) },
        async look({ channel, runtime: { playground } }, { workdir }) {
          const { absolute } = agentPath(workdir, path);
          if (!absolute.startsWith(`${playground}/`))
            throw new LitterboxError('PATH_OUTSIDE_WORKDIR', `${shown(path)} does not lie below ${playground}.`, {
              operation: 'git.read',
              hint: 'Clones lie in the playground; leave the path out for the work of this sandbox.',
            });
          const words = {
            status: ['status', '--short', '--branch'],
            log: ['log', '--no-color', '--format=%h %ad %an: %s', '--date=short', `-n${limit}`, revision ?? 'HEAD'],
            diff: ['diff', '--no-color', '--no-ext-diff', ...(revision === undefined ? [] : [revision])],
            show: ['show', '--no-color', '--no-ext-diff', '--stat', '--patch', revision ?? 'HEAD'],
          }[action];
          const { exit, stdout, stderr, interruption } = await channel.run(
            {
              argv: ['git', '--no-pager', '-C', absolute, ...words, '--'],
              env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
              timeoutMs: TIMEOUT_MS,
              maxOutputBytes: MAX_BYTES,
            },
            options,
          );
          if (interruption === 'abort') throw options?.signal?.reason;
          if (exit.code === 0) return decodeRaw(stdout.bytes);
          throw new LitterboxError(
            'NOT_A_REPO',
            `git failed in ${shown(path)}: ${shown(decodeRaw(stderr.bytes).trim())}`,
            {
              operation: 'git.read',
              hint: 'Look with ls which clones there are in the playground.',
            },
          );
        },
      },
      options,
    );
  }
}
