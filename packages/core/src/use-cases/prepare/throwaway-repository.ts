import { LitterboxError } from '../../domain/errors/errors.ts';
import type { BaseDescription } from '../../ports/source-control/persons-repository.ts';
import type { FailedSetup, NamedCommand } from './run-setup-commands.ts';

const NAME = 'git init (workspace.git is throwaway)';

/** Commits that are made for the distance to a tag; one that is farther away is told as so far. */
const MAX_COMMITS = 10_000;

/** The exit code when there is no git inside. */
const NO_GIT = 41;

/**
 * Makes a repository in the current directory, for tools that want one; nothing is ever read from it. `$1` is the branch, `$2` the number
 * of empty commits below the one with the files, then comes each tag: `annotated` or `light`, its distance, its name.
 *
 * All files are in it as they are, ignored ones too: what attributes say would make git find them changed.
 */
const SCRIPT = `command -v git >/dev/null || exit ${NO_GIT}
set -e
branch=$1 below=$2
shift 2
export GIT_AUTHOR_NAME=Litterbox GIT_AUTHOR_EMAIL=litterbox@localhost GIT_COMMITTER_NAME=Litterbox GIT_COMMITTER_EMAIL=litterbox@localhost
git init -q .
mkdir -p .git/info
echo '* -text -ident -filter -working-tree-encoding' >.git/info/attributes
git symbolic-ref HEAD "refs/heads/\${branch:-base}"
if [ "$below" -gt 0 ]; then
count=$below
while [ "$count" -gt 0 ]; do
printf 'commit refs/litterbox/below\\ncommitter Litterbox <litterbox@localhost> 946684800 +0000\\ndata 0\\n\\n'
count=$((count - 1))
done | git fast-import --quiet
git update-ref HEAD refs/litterbox/below
git update-ref -d refs/litterbox/below
fi
git add -A -f .
git -c commit.gpgsign=false commit -q -m base --no-verify --allow-empty
while [ $# -gt 0 ]; do
if [ "$1" = annotated ]; then git -c tag.gpgsign=false tag -a -m "$3" -- "$3" "HEAD~$2"; else git tag -- "$3" "HEAD~$2"; fi
shift 3
done
[ "$branch" ] || { git checkout -q --detach; git branch -q -D base; }`;

/** The command that makes it, so that it tells of the base what git tells outside. */
export function throwawayRepository({ branch = '', tags }: BaseDescription): NamedCommand {
  const near = tags.map((tag) => ({ ...tag, distance: Math.min(tag.distance, MAX_COMMITS) }));
  const below = Math.max(0, ...near.map(({ distance }) => distance));
  const argv = [
    'sh',
    '-c',
    SCRIPT,
    'make-repository',
    branch,
    String(below),
    ...near.flatMap(({ name, distance, isAnnotated }) => [isAnnotated ? 'annotated' : 'light', String(distance), name]),
  ] as const;
  return { argv, name: NAME };
}

/** @throws LitterboxError `TOOL_MISSING` when that command failed because the sandbox has no git. */
export function assertGit({ command, exitCode }: FailedSetup): void {
  if (command !== NAME || exitCode !== NO_GIT) return;
  throw new LitterboxError(
    'TOOL_MISSING',
    'There is no git in the sandbox, and workspace.git = "throwaway" needs it.',
    {
      operation: 'sandbox.create',
      hint: 'Choose an image with git (--image), install git in it (container.install-command), or leave out workspace.git.',
    },
  );
}
