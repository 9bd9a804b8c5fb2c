import { describe, expect, it } from '@jest/globals';
import { ObjectId } from './ids.ts';
import { slugify } from './slug.ts';
import { formatSnapshotNote, parseSnapshotNote } from './snapshot-note.ts';

const note = { label: slugify('s1').slug, revision: 3, commit: ObjectId.parse('a'.repeat(40)) };
const changed = (change: object) => JSON.stringify({ version: 1, ...note, ...change });

describe('the note of a snapshot', () => {
  it('comes back as it was', () => {
    expect(parseSnapshotNote(formatSnapshotNote(note))).toEqual(note);
    expect(parseSnapshotNote(changed({ revision: 0 }))).toEqual({ ...note, revision: 0 });
  });

  it.each([
    undefined,
    '',
    'null',
    '7',
    '[]',
    '{"label":',
    changed({ version: 2 }),
    changed({ more: 1 }),
    changed({ label: undefined }),
    changed({ label: 'S 1' }),
    changed({ label: '' }),
    changed({ label: 7 }),
    changed({ label: 'a'.repeat(41) }),
    changed({ revision: -1 }),
    changed({ revision: 1.5 }),
    changed({ revision: '3' }),
    changed({ commit: 'HEAD' }),
    changed({ commit: null }),
  ])('is none of another make: %s', (text) => {
    expect(parseSnapshotNote(text)).toBeUndefined();
  });
});
