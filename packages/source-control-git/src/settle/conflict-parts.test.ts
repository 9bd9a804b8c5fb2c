import { describe, expect, it } from '@jest/globals';
import { conflictParts, markLength } from './conflict-parts.ts';

const marked = (length: number, ours: string, theirs: string) =>
  `a\n${'<'.repeat(length)} ours\n${ours}${'='.repeat(length)}\n${theirs}${'>'.repeat(length)} theirs\n`;

describe('parts of a conflict', () => {
  it('AX180: are told by marks that no line of either side can pass for', () => {
    const fake = '<<<<<<< HEAD\nmine\n=======\nevil\n>>>>>>> x\n';
    const length = markLength([fake, 'a\n']);
    expect(length).toBe(8);
    expect(conflictParts(marked(8, fake, 'b\n'), 8, { ours: `a\n${fake}`, theirs: 'a\nb\n' })).toEqual([
      { text: 'a\n' },
      { ours: fake, theirs: 'b\n' },
    ]);
    expect(markLength([`x ${'<'.repeat(50)}\n`])).toBe(7); // within a line it is no mark
    expect(markLength(['|'.repeat(5_000)])).toBeUndefined();
  });

  it('end as each side ends, and keep its ends of lines', () => {
    const text = marked(7, 'x\r\n', 'y\r\n').replace('a\n', 'a\r\n');
    expect(conflictParts(text, 7, { ours: 'a\r\nx', theirs: 'a\r\ny\r\n' })).toEqual([
      { text: 'a\r\n' },
      { ours: 'x', theirs: 'y\r\n' },
    ]);
    expect(conflictParts('same', 7, { ours: 'same', theirs: 'same' })).toEqual([{ text: 'same' }]);
    expect(conflictParts('', 7, { ours: '', theirs: '' })).toEqual([]);
    expect(conflictParts(`${marked(7, '', 'y\n')}end\n`, 7, { ours: 'a\nend\n', theirs: 'a\ny\nend\n' })).toEqual([
      { text: 'a\n' },
      { ours: '', theirs: 'y\n' },
      { text: 'end\n' },
    ]);
  });
});
