import type { IncomingMessage, ServerResponse } from 'node:http';
import { LitterboxError } from 'litterbox';
import { readBody } from '../door/read-body.ts';
import { sendJson } from '../door/send-json.ts';
import type { ServedSandbox } from '../served-sandbox.ts';
import { insidePath } from './inside-path.ts';

/** As much as one file may have, and a body with several of them. */
const MAX_BYTES = 64 * 2 ** 20;
const MAX_FILES = 1_000;

/** Reads a file: its bytes as they are. */
export async function sendFile(
  { sandbox }: ServedSandbox,
  query: URLSearchParams,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const bytes = await sandbox.files.read(insidePath(query.get('path') ?? ''), { signal });
  // An agent wrote it: nobody is to take it for a page.
  response
    .writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': bytes.length,
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    })
    .end(bytes);
}

/** Writes the files of a form, or the one that the body is, as one revision. */
export async function takeFiles(
  { sandbox }: ServedSandbox,
  query: URLSearchParams,
  { request, response, signal }: { request: IncomingMessage; response: ServerResponse; signal: AbortSignal },
): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  const body = await readBody(request, MAX_BYTES);
  const given = query.get('path') || undefined;
  const files = new Map<string, Uint8Array>();
  if (!type.startsWith('multipart/form-data')) {
    if (given === undefined) throw refuse('path: want the path of the file.');
    files.set(insidePath(given), body);
  } else {
    const parts = await partsOf(body, type);
    const isOne = parts.length === 1 && given !== undefined;
    for (const part of parts)
      files.set(insidePath(isOne ? given : part.name), new Uint8Array(await part.arrayBuffer()));
  }
  if (files.size > 0) await sandbox.files.upload(Object.fromEntries(files), { signal });
  const written = [...files.keys()].map((path) => ({
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    type: 'file',
  }));
  sendJson(response, 200, written);
}

async function partsOf(body: Buffer, type: string): Promise<readonly File[]> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw refuse('The body is no form.');
  });
  const parts = form.getAll('file').filter((part) => part instanceof File);
  if (parts.length > MAX_FILES) throw refuse(`${parts.length} files, want ${MAX_FILES} at most.`);
  return parts;
}

const refuse = (what: string) => new LitterboxError('INVALID_ARGUMENT', what, { operation: 'e2b.files' });
