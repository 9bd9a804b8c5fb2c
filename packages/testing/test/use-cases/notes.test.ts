import { describe, expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { changed } from '../made.ts';

const note = { sandbox: 'a', path: 'work', line: 1, words: 'Say why.', revision: '1' };

describe('notes of a person on lines', () => {
  test('FC-470: hold what their line read, because numbers move and an agent inside has no history', async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    const { notes } = await fixture.writeNotes.write(note);
    expect(notes).toMatchObject([{ line: 1, text: 'work' }]);
    const beyond = await fixture.writeNotes.write({ ...note, line: 99 });
    expect(beyond.notes[1]).not.toHaveProperty('text');
    const gone = await fixture.writeNotes.write({ ...note, path: 'nosuch' });
    expect(gone.notes[2]).not.toHaveProperty('text');
  });

  test('FC-448: wait until an agent was told of them, are its task once, and stay for the person', async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    const { notes } = await fixture.writeNotes.write(note);
    expect(notes).toMatchObject([{ note: 1, path: 'work', line: 1, revision: 1, words: 'Say why.' }]);
    await fixture.writeNotes.write({ ...note, words: 'And this.' });
    const task = { sandbox: 'a', agent: 'codex', most: 10_000 };
    expect((await fixture.writeNotes.giveTask(task)).map(({ words }) => words)).toEqual(['Say why.', 'And this.']);
    expect(await fixture.writeNotes.giveTask(task)).toEqual([]);
    const { notes: kept } = await fixture.writeNotes.list('a');
    expect(kept).toMatchObject([{ given: { to: 'codex', isTask: true } }, { given: { to: 'codex', isTask: true } }]);
    await fixture.writeNotes.takeBack({ sandbox: 'a', notes: [2] });
    expect((await fixture.writeNotes.giveTask(task)).map(({ note: number }) => number)).toEqual([2]);
    expect((await fixture.writeNotes.remove({ sandbox: 'a', notes: [1, 2, 99] })).notes).toEqual([]);
    expect((await fixture.audited()).filter((line) => line.includes('note'))).toEqual([
      'sandbox-note: ok',
      'sandbox-note: ok',
      'note-give: ok',
      'note-return: ok',
      'note-give: ok',
      'note-remove: ok',
    ]);
  });

  test('are facts of the sandbox for who asks, as often as it asks, and no task of another agent then', async () => {
    await using fixture = useCaseFixture();
    const record = await changed(fixture);
    await fixture.writeNotes.write(note);
    for (let round = 0; round < 2; round++) {
      const now = await fixture.state.get(record.id);
      expect(await fixture.readNotes.give(now ?? record)).toMatchObject([{ words: 'Say why.' }]);
    }
    const { notes } = await fixture.writeNotes.list('a');
    expect(notes[0]?.given).toMatchObject({ isTask: false });
    expect(await fixture.writeNotes.giveTask({ sandbox: 'a', agent: 'codex', most: 10_000 })).toEqual([]);
  });

  test('are bounded: in number, and in what one task has of them', async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    for (let at = 0; at < 50; at++) await fixture.writeNotes.write({ ...note, words: 'x'.repeat(90) });
    await expect(fixture.writeNotes.write(note)).rejects.toMatchObject({ code: 'ARG_RANGE' });
    const give = async (most: number) =>
      (await fixture.writeNotes.giveTask({ sandbox: 'a', agent: 'codex', most })).length;
    expect(await give(10)).toBe(1); // or nothing would ever come of it
    expect(await give(1_000)).toBe(10);
    expect(await give(1_000_000)).toBe(39);
    await fixture.writeNotes.remove({ sandbox: 'a', notes: [7] });
    expect((await fixture.writeNotes.write(note)).notes.at(-1)?.note).toBe(51);
  });

  test('are of a revision that is there, and no other sandbox has them', async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    await expect(fixture.writeNotes.write({ ...note, revision: '7' })).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
    await fixture.writeNotes.write(note);
    const { record } = await fixture.forkSandbox.fork('a', 'b');
    expect(record.notes).toBeUndefined();
    expect((await fixture.writeNotes.list('b')).notes).toEqual([]);
  });
});
