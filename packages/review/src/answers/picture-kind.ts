/** A picture as its own first bytes describe it. */
export interface PictureKind {
  readonly type: 'image/png' | 'image/gif' | 'image/jpeg' | 'image/webp';
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** A browser needs four bytes for each pixel, however small the file is. */
const MAX_PIXELS = 40_000_000;
/** Markers of JPEG before a frame's size: all of C0 to CF but DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/**
 * Formats that hold pixels alone: none that can hold a program or an address. Undefined for anything else, SVG included, and for what would
 * take too much memory.
 */
export function pictureKind(bytes: Uint8Array): PictureKind | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = pngOf(buffer) ?? gifOf(buffer) ?? jpegOf(buffer) ?? webpOf(buffer);
  return found && found.width > 0 && found.height > 0 && found.width * found.height <= MAX_PIXELS ? found : undefined;
}

/** @see https://www.w3.org/TR/png-3/#11IHDR */
function pngOf(buffer: Buffer): PictureKind | undefined {
  if (buffer.length < 24 || buffer.toString('latin1', 0, 8) !== '\u0089PNG\r\n\u001a\n') return undefined;
  return { type: 'image/png', width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) };
}

/** @see https://www.w3.org/Graphics/GIF/spec-gif89a.txt section 18 */
function gifOf(buffer: Buffer): PictureKind | undefined {
  if (buffer.length < 10 || !/^GIF8[79]a$/.test(buffer.toString('latin1', 0, 6))) return undefined;
  return { type: 'image/gif', width: buffer.readUInt16LE(6), height: buffer.readUInt16LE(8) };
}

/** @see https://www.w3.org/Graphics/JPEG/itu-t81.pdf B.1 and B.2.2 */
function jpegOf(buffer: Buffer): PictureKind | undefined {
  if (buffer.toString('latin1', 0, 3) !== '\u00ff\u00d8\u00ff') return undefined;
  for (let at = 2; at + 9 <= buffer.length && buffer[at] === 0xff; ) {
    const marker = buffer[at + 1] ?? 0;
    if (isFrame(marker))
      return { type: 'image/jpeg', width: buffer.readUInt16BE(at + 7), height: buffer.readUInt16BE(at + 5) };
    at += 2 + buffer.readUInt16BE(at + 2);
  }
  return undefined;
}

/** @see https://developers.google.com/speed/webp/docs/riff_container */
function webpOf(buffer: Buffer): PictureKind | undefined {
  if (buffer.length < 30 || !/^RIFF....WEBPVP8[ LX]$/s.test(buffer.toString('latin1', 0, 16))) return undefined;
  const type = 'image/webp';
  const form = buffer.toString('latin1', 15, 16);
  if (form === 'X') return { type, width: buffer.readUIntLE(24, 3) + 1, height: buffer.readUIntLE(27, 3) + 1 };
  if (form === ' ') return { type, width: buffer.readUInt16LE(26) & 0x3fff, height: buffer.readUInt16LE(28) & 0x3fff };
  const bits = buffer.readUInt32LE(21);
  return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}
