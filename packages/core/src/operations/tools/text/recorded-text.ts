import type { RevisionResult, RecordWarning } from '../../../ports/source-control/sandbox-histories.ts';
import { nameText } from './name-text.ts';

/** How a change was recorded, in a few words: `recorded as revision 3 (2 files)`. */
export function recordedText({ revision, changedFiles }: RevisionResult): string {
  if (!revision) return 'nothing to record';
  return `recorded as revision ${revision.number} (${changedFiles} ${changedFiles === 1 ? 'file' : 'files'})`;
}

/** What was not recorded as it is, a line each; empty when there is nothing to say. */
export function warningLines({ warnings, moreWarnings }: RevisionResult): readonly string[] {
  const shown = warnings.slice(0, MAX_WARNINGS).map(warningText);
  const more = warnings.length - shown.length + moreWarnings;
  return more > 0 ? [...shown, `and ${more} more such warnings`] : shown;
}

const MAX_WARNINGS = 10;

function warningText(warning: RecordWarning): string {
  const path = warning.path === '' ? 'the workspace itself' : nameText(warning.path);
  switch (warning.type) {
    case 'refused-path':
      return `warning: ${path} is never recorded (${warning.code})`;
    case 'nested-repository':
      return `warning: NESTED_REPO_SKIPPED ${path}: its files are recorded as ordinary files, its .git is not`;
    case 'large-new-file':
      return `warning: ${path} is new and has ${warning.sizeBytes} bytes: if it is built, let .gitignore name it`;
    case 'unreadable':
      return `warning: Litterbox cannot read or pack ${path}, so it is not recorded`;
    case 'holds-secret':
      return `warning: not recorded: ${path} holds the secret ${warning.secret}`;
  }
}

/** The same for programs. */
export function recordedMeta(recorded: RevisionResult): Readonly<Record<string, unknown>> {
  const { revision, changedFiles, warnings, moreWarnings } = recorded;
  return {
    changedFiles,
    ...(revision && { revision: { number: revision.number, commit: revision.commit } }),
    ...(warnings.length > 0 && { warnings: warnings.slice(0, MAX_WARNINGS), moreWarnings }),
  };
}
