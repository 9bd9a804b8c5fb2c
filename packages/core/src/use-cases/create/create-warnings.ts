import type { Assurance } from '../../domain/sandbox/assurance.ts';
import { placementLines } from '../../domain/sandbox/placement-lines.ts';
import type { Placement } from '../../domain/sandbox/placement.ts';
import { shown } from '../../domain/text/shown.ts';
import type { LargeFileState, SubmoduleState } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

const MAX_MISSING_TOLD = 5;
const MAX_EMPTY_TOLD = 10;

/** For a person who makes a sandbox on the working tree. */
export const LIVE_WARNING =
  'The sandbox reads your working tree directly: every file but .git and those that look like secrets. It stops working once a file changes that git does not ignore.';

/** For named machines on which nothing can be made at the moment. */
export function passedOverWarnings(placement: Placement | undefined): readonly string[] {
  if (!placement) return [];
  const lines = placementLines(placement);
  return placement.hosts.flatMap(({ verdict }, index) =>
    verdict === 'silent' || verdict === 'unusable' ? [lines[index] ?? ''] : [],
  );
}

export function emptySubmodules(submodules: readonly SubmoduleState[]): NonNullable<SandboxRecord['emptySubmodules']> {
  return submodules.flatMap(({ path, missing }) => (missing === undefined ? [] : [{ path, reason: missing }]));
}

export function missingLargeFiles(files: readonly LargeFileState[]): SandboxRecord['missingLargeFiles'] {
  const missing = files.filter(({ isHere }) => !isHere);
  if (missing.length === 0) return undefined;
  return { paths: missing.slice(0, MAX_MISSING_TOLD).map(({ path }) => path), total: missing.length };
}

export function missingWarning({ paths, total }: NonNullable<SandboxRecord['missingLargeFiles']>): string {
  const names = `${paths.map((path) => shown(path)).join(', ')}${total > paths.length ? ' …' : ''}`;
  const what = total === 1 ? 'One file of Git LFS is a pointer' : `${total} files of Git LFS are pointers`;
  return `${what} inside, because the content is not on this machine: ${names}. Run git lfs pull, then create another sandbox.`;
}

function emptyWarning({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${shown(path)} is empty inside: the files of the submodule are missing, because ${reason}. Run git submodule update --init there, then create another sandbox.`;
}

/** The first few names tell a person which installation it is; `explain` has all of them. */
export function unreachableWarnings(assurance: Assurance | undefined): readonly string[] {
  const { unreachable = [] } = assurance ?? {};
  if (unreachable.length === 0) return [];
  const names = unreachable.slice(0, 3).map(({ path }) => shown(path.slice(path.lastIndexOf('/') + 1)));
  const [subject, rest] =
    unreachable.length === 1
      ? ['A program in PATH is a link', 'it']
      : [`${unreachable.length} programs in PATH are links`, 'they'];
  return [
    `${subject} to files that a sandbox cannot read, so ${rest} will not run inside: ${names.join(', ')}${unreachable.length > names.length ? ', …' : ''}. Explain the sandbox to see the files; a setup can install the program inside.`,
  ];
}

/** At most ten, one sentence each. */
export function emptyWarnings(empty: NonNullable<SandboxRecord['emptySubmodules']>): readonly string[] {
  return empty.slice(0, MAX_EMPTY_TOLD).map((one) => emptyWarning(one));
}
