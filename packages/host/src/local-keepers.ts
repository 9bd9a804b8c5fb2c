import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import {
  type CallOptions,
  isLitterboxError,
  type KeeperAnswer,
  type KeeperRequest,
  type Keepers,
  LitterboxError,
  type LitterboxErrorCode,
  type LitterboxErrorDetails,
  type SandboxId,
} from '@litterbox/core/provider';
import { hostError } from './host-error.ts';

/** Where keepers are found, and how one is started. */
export interface LocalKeepersOptions {
  /** Absolute directory for sockets, made with mode 0700: who may pass it may ask. */
  readonly directory: string;
  /** Starts a program that keeps a sandbox and outlives this one; resolves when it answers. @defaultValue none */
  readonly launch?: Keepers['launch'] | undefined;
}

/** No request of ours is longer. */
const MAX_REQUEST_BYTES = 64 * 1024;
/** How long answers that are being read may take to be read, once nothing is kept any more. */
const DRAIN_MS = 2_000;

/** Keepers found by Unix sockets of this machine, one per sandbox. Each connection is one question: a JSON line in, JSON lines out. */
export function localKeepers({ directory, launch }: LocalKeepersOptions): Keepers {
  return {
    serve: (id, answer) => serve(directory, id, answer),
    ask: (id, request, options) => ask(directory, id, request, options),
    ...(launch && { launch }),
  };
}

type Line = { readonly value: unknown } | { readonly error: ErrorText } | { readonly end: true };

interface ErrorText {
  readonly code: LitterboxErrorCode;
  readonly message: string;
  readonly details: LitterboxErrorDetails;
}

async function serve(directory: string, id: SandboxId, answer: KeeperAnswer): Promise<AsyncDisposable> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const place = placeOf(directory, id);
  const sockets = new Set<Socket>();
  // Not half open: who ends its side has gone, and what it was following is over.
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // whoever asked went away
    void answered(socket, answer);
  });
  try {
    rmSync(place.path, { force: true }); // of one that was killed: the caller holds the lease
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(place.path, resolve);
    });
  } catch (error) {
    place.close();
    throw hostError('keeper.serve', `${directory}/${id}.sock`, error);
  }
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, DRAIN_MS);
      await closed;
      clearTimeout(timer);
      place.close();
    },
  };
}

async function answered(socket: Socket, answer: KeeperAnswer): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const write = async (line: Line) => {
    if (socket.destroyed) return;
    if (socket.write(`${JSON.stringify(line)}\n`)) return;
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve);
      gone.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  };
  try {
    const request = await requestOf(socket);
    for await (const value of answer(request, { signal: gone.signal })) {
      await write({ value });
      if (gone.signal.aborted) return;
    }
    await write({ end: true });
  } catch (error) {
    const told = isLitterboxError(error)
      ? { code: error.code, message: error.message, details: error.details }
      : { code: 'INTERNAL' as const, message: String(error), details: { operation: 'keeper.answer' } };
    await write({ error: told });
  } finally {
    socket.end();
  }
}

async function requestOf(socket: Socket): Promise<KeeperRequest> {
  let text = '';
  socket.setEncoding('utf8');
  return await new Promise((resolve, reject) => {
    const fail = () => reject(new Error('No request came.'));
    const read = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end === -1 && text.length <= MAX_REQUEST_BYTES) return;
      socket.off('data', read);
      socket.resume(); // its end is noticed
      try {
        resolve(JSON.parse(text.slice(0, end)) as KeeperRequest);
      } catch (error) {
        reject(error);
      }
    };
    socket.on('data', read);
    socket.once('end', fail);
    socket.once('close', fail);
  });
}

async function ask(
  directory: string,
  id: SandboxId,
  request: KeeperRequest,
  options?: CallOptions,
): Promise<AsyncIterable<unknown> | undefined> {
  options?.signal?.throwIfAborted();
  const socket = await connected(directory, id);
  if (!socket) return undefined;
  socket.on('error', () => {}); // the lines end, and that is told
  const abort = () => socket.destroy();
  options?.signal?.addEventListener('abort', abort, { once: true });
  socket.write(`${JSON.stringify(request)}\n`);
  return values(socket, options);
}

async function* values(socket: Socket, options?: CallOptions): AsyncGenerator<unknown, void, undefined> {
  try {
    for await (const text of linesOf(socket)) {
      const line = JSON.parse(text) as Line;
      if ('end' in line) return;
      if ('error' in line) throw new LitterboxError(line.error.code, line.error.message, line.error.details);
      yield line.value;
    }
    options?.signal?.throwIfAborted();
    throw new LitterboxError('UNAVAILABLE', 'The program that keeps the services and ports of the sandbox has ended.', {
      operation: 'keeper.ask',
      hint: 'Try again: Litterbox starts another one.',
    });
  } finally {
    socket.destroy();
  }
}

/** Split at newlines alone: what services print is in the lines, and other characters end a line elsewhere. */
async function* linesOf(socket: Socket): AsyncGenerator<string, void, undefined> {
  let parts: string[] = [];
  for await (const chunk of socket.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...rest] = chunk.split('\n');
    parts.push(first);
    for (const part of rest) {
      yield parts.join('');
      parts = [part];
    }
  }
}

function connected(directory: string, id: SandboxId): Promise<Socket | undefined> {
  let place: Place;
  try {
    place = placeOf(directory, id);
  } catch {
    return Promise.resolve(undefined); // no directory: nobody ever served
  }
  return new Promise((resolve, reject) => {
    const socket = connect(place.path);
    const failed = (error: NodeJS.ErrnoException) => {
      place.close();
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
      else reject(hostError('keeper.ask', `${directory}/${id}.sock`, error));
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      place.close();
      resolve(socket);
    });
  });
}

interface Place {
  readonly path: string;
  close(): void;
}

/**
 * A socket's path has room for 107 bytes, which a state directory may well exceed: it is named by its open directory.
 * @see https://man7.org/linux/man-pages/man7/unix.7.html
 */
function placeOf(directory: string, id: SandboxId): Place {
  if (process.platform !== 'linux') return { path: `${directory}/${id}.sock`, close: () => {} };
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${descriptor}/${id}.sock`, close: () => closeSync(descriptor) };
}
