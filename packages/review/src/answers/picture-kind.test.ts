import { describe, expect, it } from '@jest/globals';
import { pictureKind } from './picture-kind.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const png = (width: number, height: number) => {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([bytes('\u0089PNG\r\n\u001a\n\0\0\0\rIHDR'), size]);
};

describe('pictures', () => {
  it.each([
    ['image/png', png(3, 2)],
    ['image/gif', bytes('GIF89a\u0003\0\u0002\0')],
    ['image/jpeg', bytes('\u00ff\u00d8\u00ff\u00e0\0\u0004xx\u00ff\u00c2\0\u0011\u0008\0\u0002\0\u0003')],
    ['image/webp', bytes(`RIFF....WEBPVP8X${'.'.repeat(8)}\u0002\0\0\u0001\0\0`)],
    ['image/webp', bytes(`RIFF....WEBPVP8 ${'.'.repeat(10)}\u0003\0\u0002\0`)],
    ['image/webp', bytes(`RIFF....WEBPVP8L....\u002f\u0002\u0040\0\0${'.'.repeat(8)}`)],
  ])('are known by their first bytes: %s', (type, content) => {
    expect(pictureKind(content)).toEqual({ type, width: 3, height: 2 });
  });

  it.each([
    ['SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>')],
    ['HTML behind the letters of a GIF, too short to be one', bytes('GIF89a')],
    ['one that would fill the memory', png(100_000, 100_000)],
    ['one without pixels', png(0, 10)],
    ['a JPEG whose lengths lead nowhere', bytes('\u00ff\u00d8\u00ff\u00e0\0\0\u00ff\u00e0\0\0')],
    ['a PDF', bytes('%PDF-1.7')],
    ['nothing', bytes('')],
  ])('are not: %s', (_name, content) => {
    expect(pictureKind(content)).toBeUndefined();
  });
});
