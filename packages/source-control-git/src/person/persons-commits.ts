import { LitterboxError, type ObjectId, type Slug } from '@litterbox/core/provider';
import { GitFailure } from '../git/git-failure.ts';
import type { MergeArguments } from './merge-arguments.ts';
import type { UserRepository } from './user-repository.ts';

const OPERATION = 'integration.execute';

/** What a commit holds, and its words without the lines at the end that name who did what. */
export interface CommitDraft {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly message: string;
}

/**
 * Commits as the person's own `git commit` would make them: author and committer are theirs, signed where they said so in their
 * configuration or arguments. They are objects alone until a ref names them.
 */
export class PersonsCommits {
  readonly #user: UserRepository;
  readonly #signing: Pick<MergeArguments, 'signOff' | 'signingKey'>;
  readonly #person: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(
    user: UserRepository,
    signing: Pick<MergeArguments, 'signOff' | 'signingKey'>,
    person: string,
    signal: AbortSignal | undefined,
  ) {
    this.#user = user;
    this.#signing = signing;
    this.#person = person;
    this.#signal = signal;
  }

  /** @throws LitterboxError `INVALID_ARGUMENT` when git does not know who they are. */
  static async of(
    user: UserRepository,
    signing: Pick<MergeArguments, 'signOff' | 'signingKey'>,
    signal: AbortSignal | undefined,
  ): Promise<PersonsCommits> {
    const identity = (name: string) =>
      user.run(['-c', 'user.useConfigOnly=true', 'var', name], { setting: 'user', signal });
    const [author, committer] = [await identity('GIT_AUTHOR_IDENT'), await identity('GIT_COMMITTER_IDENT')];
    if (author.code !== 0 || committer.code !== 0) {
      throw new LitterboxError('INVALID_ARGUMENT', 'git does not know who you are, so it cannot commit.', {
        operation: OPERATION,
        hint: 'Set user.name and user.email with git config --global.',
      });
    }
    const person = committer.stdout.toString().replace(/ \d+ [+-]\d+\s*$/, '');
    return new PersonsCommits(user, signing, person, signal);
  }

  /** @throws LitterboxError `INVALID_ARGUMENT` when it cannot be signed. */
  async make({ tree, parents, message }: CommitDraft): Promise<ObjectId> {
    const { signOff, signingKey } = this.#signing;
    const signing = signingKey === undefined ? [] : [`-S${signingKey}`];
    const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', ...signing];
    args.push(...parents.flatMap((parent) => ['-p', parent]), '-F', '-', tree);
    const words = message.replace(/\n*$/, '\n');
    const input = signOff ? withTrailer(words, `Signed-off-by: ${this.#person}`) : words;
    const made = await this.#user.plumbing.run(args, { setting: 'user', input, signal: this.#signal });
    if (made.code === 0) return made.stdout.toString().trimEnd() as ObjectId;
    if (signingKey === undefined) throw new GitFailure(args, made.code, made.stderr);
    throw new LitterboxError('INVALID_ARGUMENT', `The commit could not be signed: ${made.stderr.trim()}`, {
      operation: OPERATION,
      hint: 'Check user.signingKey and gpg.program.',
    });
  }
}

/** The message with the line that tells which sandbox did the work. */
export const withSandbox = (message: string, slug: Slug): string => withTrailer(message, `Litterbox-Sandbox: ${slug}`);

/** The message with one more line among its trailers. */
export function withTrailer(message: string, line: string): string {
  const text = message.replace(/\n+$/, '');
  const last = text.split('\n\n').at(-1) ?? '';
  const hasTrailers = text.includes('\n\n') && last.split('\n').every((each) => /^[A-Za-z-]+: /.test(each));
  return `${text}${hasTrailers ? '\n' : '\n\n'}${line}\n`;
}
