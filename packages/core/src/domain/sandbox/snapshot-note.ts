import { ObjectId } from './ids.ts';
import { MAX_SLUG_CHARACTERS, type Slug, slugify } from './slug.ts';

/** What Litterbox keeps with a snapshot that it takes. */
export interface SnapshotNote {
  /** The snapshot's name for people, in its sandbox. */
  readonly label: Slug;
  /** The sandbox's last revision when it was taken; 0 is the base. */
  readonly revision: number;
  /** The revision that the workspace stood on. */
  readonly commit: ObjectId;
}

const VERSION = 1;
const KEYS = ['commit', 'label', 'revision', 'version'].join();

/** The text of a note, for a provider to keep. */
export function formatSnapshotNote({ label, revision, commit }: SnapshotNote): string {
  return JSON.stringify({ version: VERSION, label, revision, commit });
}

/** The note of a text that a provider kept; nothing for every text that {@link formatSnapshotNote} did not make. */
export function parseSnapshotNote(text: string | undefined): SnapshotNote | undefined {
  const value = parsed(text ?? '');
  if (typeof value !== 'object' || value === null || Object.keys(value).toSorted().join() !== KEYS) return undefined;
  const { version, label, revision, commit } = value as Readonly<Record<string, unknown>>;
  if (version !== VERSION || !isLabel(label) || typeof commit !== 'string' || !ObjectId.is(commit)) return undefined;
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) return undefined;
  return { label, revision, commit };
}

function isLabel(value: unknown): value is Slug {
  if (typeof value !== 'string' || value.length > MAX_SLUG_CHARACTERS) return false;
  try {
    return slugify(value).slug === value;
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
