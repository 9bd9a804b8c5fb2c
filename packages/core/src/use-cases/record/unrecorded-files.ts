import { type Advice, advice, step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { UnrecordedFiles } from '../../ports/state/state-store.ts';

const MAX_PATHS = 20;
/** A result names so many of each type, and counts the rest. */
const MAX_WARNINGS = 100;
/** A sentence names so many. */
const MAX_NAMED = 3;

/** Refusals without which no work is lost: pipes hold nothing, and the files beside a `.git` are recorded. */
const EXPENDABLE: ReadonlySet<string> = new Set(['NOT_A_REGULAR_FILE', 'PATH_GIT_DIR']);

/**
 * Files that a revision should have had and has not.
 *
 * @param known those of looks before this one, when this one saw only what changed since
 */
export function unrecordedFiles(
  { warnings, moreWarnings }: Pick<RevisionResult, 'warnings' | 'moreWarnings'>,
  known?: UnrecordedFiles,
): UnrecordedFiles | undefined {
  const lost = warnings.flatMap((warning) =>
    warning.type === 'unreadable' ||
    warning.type === 'holds-secret' ||
    (warning.type === 'refused-path' && !EXPENDABLE.has(warning.code))
      ? [warning.path]
      : [],
  );
  const before = known?.paths ?? [];
  const fresh = lost.filter((path) => !before.includes(path));
  if (fresh.length === 0) return known;
  const total = (known?.total ?? 0) + fresh.length + (lost.length >= MAX_WARNINGS ? moreWarnings : 0);
  return { paths: [...before, ...fresh].slice(0, MAX_PATHS), total };
}

/** One sentence for a person, such as `2 files of login could not be recorded: "a", "b".` */
export function unrecordedText(slug: string, { paths, total }: UnrecordedFiles): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => (path === '' ? 'the workspace itself' : shown(path)));
  const count = total === 1 ? 'One file' : `${total} files`;
  return `${count} of ${slug} could not be recorded: ${named.join(', ')}${total > named.length ? ' …' : ''}.`;
}

/** How such files are kept. */
export function keepUnrecorded(slug: string): Advice {
  return advice`Unreadable files are recorded once they can be read: ${step('sandbox-run', { sandbox: slug, command: 'chmod -R u+rwX .' })}. Files that hold a secret of the sandbox are recorded once they are without it. Copy what lies in a submodule or is too large elsewhere first.`;
}
