import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLitterboxError } from 'litterbox';
import * as z from 'zod';
import { decoded } from '../door/decoded.ts';
import { failureOf } from '../door/failure.ts';
import type { Keys } from '../door/keys.ts';
import { parseJson, parseValue } from '../door/parse-json.ts';
import { readBody } from '../door/read-body.ts';
import { sendJson } from '../door/send-json.ts';
import type { SandboxBook } from '../sandbox-book.ts';
import { ServedSandbox } from '../served-sandbox.ts';
import {
  connectBody,
  forkBody,
  listQuery,
  newSandbox,
  pauseBody,
  snapshotBody,
  snapshotQuery,
  timeoutBody,
} from './control-input.ts';
import { listPage } from './list-page.ts';
import { listedView, openedView } from './shown-sandbox.ts';

const MAX_BODY_BYTES = 2 ** 20;
const SNAPSHOT = /^\/templates\/([^/]{1,256})$/;
const PATH = /^\/(?:v2\/)?sandboxes(?:\/([\w-]{1,64})(?:\/(\w{1,32}))?)?$/;

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** The half of the protocol that makes, lists and ends sandboxes. Whoever has the key may ask. */
export class AnswerControl {
  readonly #book: SandboxBook;
  readonly #keys: Keys;
  readonly #port: () => number;

  constructor(book: SandboxBook, keys: Keys, port: () => number) {
    this.#book = book;
    this.#keys = keys;
    this.#port = port;
  }

  async answer(request: IncomingMessage, response: ServerResponse, url: URL, signal: AbortSignal): Promise<void> {
    try {
      const [path, id, verb = ''] = PATH.exec(url.pathname) ?? [];
      const call = { request, response, query: url.searchParams, signal };
      const isDone =
        path === undefined
          ? await this.#answerSnapshots(call, url.pathname)
          : id === undefined
            ? await this.#answerAll(call)
            : await this.#answerOne(call, id, `${request.method} ${verb}`);
      // Clients take 404 for a sandbox that is not there.
      if (!isDone)
        sendJson(response, 501, { code: 501, message: `${request.method} ${url.pathname} is not served here.` });
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const { status, message } = failureOf(error);
      const code = isLitterboxError(error, 'SANDBOX_NOT_FOUND') ? 404 : status;
      sendJson(response, code, { code, message });
    }
  }

  async #answerAll({ request, response, query, signal }: Call): Promise<boolean> {
    if (request.method === 'GET') {
      const { page, next } = listPage(await this.#book.list(signal), parseValue(listQuery, Object.fromEntries(query)));
      const views = page.map(([served, summary]) => listedView(served, summary));
      sendJson(response, 200, views, next === undefined ? {} : { 'x-next-token': String(next) });
      return true;
    }
    if (request.method !== 'POST') return false;
    const served = await this.#book.create(parseJson(newSandbox, await readBody(request, MAX_BODY_BYTES)), signal);
    sendJson(response, 201, this.#opened(served));
    return true;
  }

  async #answerOne(call: Call, id: string, what: string): Promise<boolean> {
    const { request, response, signal } = call;
    const body = async () => await bodyOf(request);
    const served = await this.#book.find(id, signal);
    switch (what) {
      case 'GET ': {
        const [, summary] = (await this.#book.list(signal)).find(([one]) => one === served) ?? [];
        if (!summary) return false;
        sendJson(response, 200, { ...listedView(served, summary), ...this.#opened(served) });
        return true;
      }
      case 'DELETE ':
        await this.#book.kill(served);
        sendJson(response, 204);
        return true;
      case 'POST timeout':
      case 'POST refreshes':
        setTime(response, served, parseValue(timeoutBody, await body()).timeout);
        return true;
      case 'POST pause': {
        const { memory } = parseValue(pauseBody, await body());
        const isDone = await this.#book.pause(served, memory !== false);
        if (isDone) sendJson(response, 204);
        else sendJson(response, 409, { code: 409, message: `The sandbox ${served.sandbox.name} is paused already.` });
        return true;
      }
      case 'POST connect':
      case 'POST resume':
        await this.#connect(call, served, await body());
        return true;
      case 'POST snapshots':
        sendJson(response, 201, await this.#book.snapshot(served, parseValue(snapshotBody, await body()).name, signal));
        return true;
      case 'POST fork':
        await this.#fork(call, served, await body());
        return true;
      default:
        return false;
    }
  }

  async #answerSnapshots({ request, response, query, signal }: Call, path: string): Promise<boolean> {
    if (request.method === 'GET' && path === '/snapshots') {
      const { sandboxID, name } = parseValue(snapshotQuery, Object.fromEntries(query));
      const all = await this.#book.snapshots(sandboxID, signal);
      const found = all.filter(({ snapshotID, names }) => !name || snapshotID === name || names.includes(name));
      sendJson(response, 200, found);
      return true;
    }
    const id = SNAPSHOT.exec(path)?.[1];
    if (request.method !== 'DELETE' || id === undefined) return false;
    await this.#book.removeSnapshot(decoded(id), signal);
    sendJson(response, 204);
    return true;
  }

  async #connect({ response, signal }: Call, served: ServedSandbox, body: unknown): Promise<void> {
    const { timeout, memory } = parseValue(connectBody, body);
    const wasPaused = served.isPaused;
    if (wasPaused && memory === false) await served.sandbox.setRunState('stopped', { signal });
    if (wasPaused) await this.#book.resume(served, timeout, signal);
    // A connect only ever makes the time of one that runs longer.
    else if (timeout !== undefined && Date.now() + timeout * 1000 > served.endAtMs) served.endIn(timeout);
    sendJson(response, wasPaused ? 201 : 200, this.#opened(served));
  }

  async #fork({ response }: Call, served: ServedSandbox, body: unknown): Promise<void> {
    const { timeout, count = 1 } = parseValue(forkBody, body);
    const made = await this.#book.fork(served, count, timeout);
    const results = made.map((one) => {
      if (one instanceof ServedSandbox) return { sandbox: this.#opened(one) };
      const { status: code, message } = failureOf(one);
      return { error: { code, message } };
    });
    sendJson(response, 201, results);
  }

  #opened(served: ServedSandbox): object {
    return openedView(served, this.#keys, this.#port());
  }
}

function setTime(response: ServerResponse, served: ServedSandbox, seconds: number): void {
  const message = `The sandbox ${served.sandbox.name} is paused: its time stands still. Connect to it with a new one.`;
  if (served.isPaused) return sendJson(response, 409, { code: 409, message });
  served.endIn(seconds);
  sendJson(response, 204);
}

/** Some calls may have no body. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request, MAX_BODY_BYTES);
  return bytes.length === 0 ? {} : parseJson(z.unknown(), bytes);
}
