import { LitterboxError } from 'litterbox';

/** @throws LitterboxError `INVALID_ARGUMENT` for an encoding that there is not */
export function decodeText(bytes: Uint8Array, encoding = 'utf-8'): string {
  try {
    return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  } catch {
    throw unknownEncoding(encoding, 'Give a name of the Encoding Standard, such as utf-8 or windows-1252.');
  }
}

/** @throws LitterboxError `INVALID_ARGUMENT` for an encoding that cannot be written without a loss */
export function encodeText(text: string, encoding = 'utf-8'): Uint8Array {
  switch (encoding.toLowerCase()) {
    case 'utf-8':
    case 'utf8':
      return new TextEncoder().encode(text);
    case 'utf-16le':
    case 'utf16le':
      return Uint8Array.from(
        { length: text.length * 2 },
        (_, at) => text.charCodeAt(at >> 1) >> (at % 2 === 0 ? 0 : 8),
      );
    default:
      throw unknownEncoding(
        encoding,
        'Text is written as utf-8 or utf-16le. Encode it yourself and use writeBinaryFile.',
      );
  }
}

/** The lines from one to another, both included, with their ends. */
export function linesOf(text: string, startLine = 1, endLine = Number.POSITIVE_INFINITY): string {
  if (startLine <= 1 && endLine === Number.POSITIVE_INFINITY) return text;
  return text
    .split(/(?<=\n)/)
    .slice(Math.max(startLine, 1) - 1, Math.max(endLine, 0))
    .join('');
}

/** A stream of one chunk. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

function unknownEncoding(encoding: string, hint: string): LitterboxError {
  return new LitterboxError('INVALID_ARGUMENT', `The encoding ${JSON.stringify(encoding)} cannot be used here.`, {
    operation: 'ai-sdk.encode',
    hint,
  });
}
