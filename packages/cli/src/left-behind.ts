import { type CreateSandboxResult, type HeldBack, visibleName } from '@litterbox/core';

const MAX_NAMED = 5;

/**
 * A sentence for each kind of work of the person that a new sandbox does not have, with what brings it.
 *
 * @param include says what brings a file that looks like a secret
 */
export async function leftBehind(
  { leftOut: asked, heldBack }: Pick<CreateSandboxResult, 'leftOut' | 'heldBack'>,
  include: (path: string) => string,
): Promise<readonly string[]> {
  const leftOut = await asked.catch(() => undefined); // the sandbox is there, whatever git says of the work tree
  return [
    ...(leftOut ? uncommitted(leftOut) : ['git could not say which uncommitted changes are not in the sandbox.']),
    ...(heldBack ? [secrets(heldBack, include)] : []),
  ];
}

function uncommitted({ total, paths }: Awaited<CreateSandboxResult['leftOut']>): readonly string[] {
  if (total === 0) return [];
  const what = total === 1 ? 'One uncommitted change is' : `${total} uncommitted changes are`;
  const names = paths.slice(0, MAX_NAMED).map((path) => visibleName(path));
  const more = total > MAX_NAMED ? ' …' : '';
  return [`${what} not in the sandbox: ${names.join(', ')}${more} (to include them: --from worktree)`];
}

/** Which files look like secrets, what they seem to hold, and how one is brought all the same. */
function secrets({ files, total }: HeldBack, include: (path: string) => string): string {
  const told = files.slice(0, MAX_NAMED);
  const names = told.map(
    ({ path, holds, isTracked }) => `${visibleName(path)} (${holds}${isTracked ? ', as committed' : ''})`,
  );
  const what =
    total === 1
      ? 'One file looks like a secret, so the sandbox does not have your copy'
      : `${total} files look like secrets, so the sandbox does not have your copies`;
  return `${what}: ${names.join(', ')}${total > told.length ? ' …' : ''} (to include ${total === 1 ? 'it' : 'one'}: ${include(visibleName(told[0]?.path ?? 'PATH'))})`;
}
