import { expect, test } from '@jest/globals';
import { frame, frameReader, FRAMES, MAX_FRAME_BYTES } from './frames.ts';

test('frames come whole, however they were cut', () => {
  const all = Buffer.concat([
    frame(FRAMES.output, Buffer.from('one')),
    frame(FRAMES.inputEnd),
    frame(FRAMES.exit, Buffer.from([3])),
  ]);
  for (const size of [1, 2, 5, all.length]) {
    const heard: unknown[] = [];
    const read = frameReader(MAX_FRAME_BYTES, (kind, bytes) => heard.push([kind, bytes.toString('latin1')]));
    for (let at = 0; at < all.length; at += size) read(all.subarray(at, at + size));
    expect(heard).toEqual([
      [FRAMES.output, 'one'],
      [FRAMES.inputEnd, ''],
      [FRAMES.exit, '\u0003'],
    ]);
  }
});

test('a frame that is too large is not waited for', () => {
  const read = frameReader(10, () => {});
  expect(() => read(frame(FRAMES.output, Buffer.alloc(11)).subarray(0, 5))).toThrow('a frame of 11 bytes');
});
