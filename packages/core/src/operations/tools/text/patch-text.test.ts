import { expect, it } from '@jest/globals';
import { patchText } from './patch-text.ts';

async function* chunks(...parts: readonly (readonly number[])[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const part of parts) yield Uint8Array.from(part);
}

it('keeps a character whole that lies in two chunks, and says when it stops', async () => {
  expect(await patchText(chunks([0x61, 0xc3], [0xa9, 0x62]), 10)).toEqual({ text: 'aéb', isCut: false });
  expect(await patchText(chunks([0x61, 0x62], [0x63]), 2)).toEqual({ text: 'ab', isCut: true });
  expect(await patchText(chunks([0x61, 0xff], [0xc3]), 10)).toEqual({ text: 'a\ufffd\ufffd', isCut: false });
});
