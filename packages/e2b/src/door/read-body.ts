import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { LitterboxError } from 'litterbox';

/**
 * The whole body of a request, unpacked where it is packed with gzip.
 *
 * @param maxBytes of what is unpacked; nothing beyond is kept
 * @throws LitterboxError `FILE_TOO_LARGE`, `UNSUPPORTED`, `INVALID_ARGUMENT`
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip')
    throw new LitterboxError('UNSUPPORTED', `The content encoding ${JSON.stringify(encoding)} is not known here.`, {
      operation: 'e2b.read',
      hint: 'Send the body as it is, or with gzip.',
    });
  const unpacked = encoding === 'gzip' ? request.pipe(createGunzip()) : request;
  request.once('error', (error) => unpacked.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    throw new LitterboxError('INVALID_ARGUMENT', 'The body is no gzip.', { operation: 'e2b.read' });
  }
  return Buffer.concat(chunks);
}

const tooLarge = (maxBytes: number) =>
  new LitterboxError('FILE_TOO_LARGE', `The body of the request is longer than ${maxBytes} bytes.`, {
    operation: 'e2b.read',
    hint: 'Send it in parts, or make it by a command in the sandbox.',
  });
