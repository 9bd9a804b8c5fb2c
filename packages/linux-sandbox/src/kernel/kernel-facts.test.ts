import { describe, expect, it } from '@jest/globals';
import { parseFacts, PROGRAM } from './kernel-facts.ts';

/** What is behind descriptors of process 1, by the text that the kernel gives of each. */
function doorsOf(texts: Readonly<Record<string, string>>) {
  const files = Object.entries(texts).map(([path, text]) => `==> /proc/${path} <==\n${text}\n`);
  return parseFacts(['facts', 'files', files.join('\n')], '').doors;
}

describe('parseFacts', () => {
  it('finds the mount of each descriptor and of the program', () => {
    const text = 'pos:\t0\nflags:\t0100002\nmnt_id:\t41\nino:\t7';
    expect(doorsOf({ '9/fdinfo/7': text, 'self/fdinfo/5': text })).toEqual([
      { what: 'descriptor 7', mount: 41 },
      { what: PROGRAM, mount: 41 },
    ]);
  });

  it('passes over a descriptor that was closed while it was looked at', () => {
    expect(doorsOf({ '9/fdinfo/10': '' })).toEqual([]);
  });

  it('takes no answer for a program, or for a descriptor that the kernel tells of otherwise, as a door that leads out', () => {
    expect(doorsOf({ 'self/fdinfo/5': '', '9/fdinfo/7': 'pos:\t0' })).toEqual([
      { what: PROGRAM, mount: Number.NaN },
      { what: 'descriptor 7', mount: Number.NaN },
    ]);
  });
});
