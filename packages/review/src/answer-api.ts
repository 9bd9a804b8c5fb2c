import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FilePart, SettledFile } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { decide, decisionOf } from './answers/decide.ts';
import { DiffLines } from './answers/diff-lines.ts';
import { errorAnswer } from './answers/error-answer.ts';
import { listWorks } from './answers/list-works.ts';
import { readBlame } from './answers/read-blame.ts';
import { readCalls, readOneCall } from './answers/read-calls.ts';
import { readForecast } from './answers/read-forecast.ts';
import { readConflict } from './answers/read-conflict.ts';
import { addNote, dropNote, readNotes } from './answers/read-notes.ts';
import { readSides, readWhole } from './answers/read-contents.ts';
import { readPlan } from './answers/shown-plan.ts';
import { readBody } from './door/read-body.ts';

/** As the page sends it; the operation checks it. */
interface PostBody {
  readonly path?: string;
  readonly from?: string;
  readonly tip?: string;
  readonly line?: number;
  readonly words?: string;
  readonly note?: number;
  readonly paths?: readonly string[];
  readonly parts?: readonly FilePart[];
  readonly settled?: readonly SettledFile[];
  readonly commit?: boolean;
  readonly integration?: 'apply' | 'merge';
}

/** Everything that the page asks for, once its session is known. */
export class AnswerApi {
  readonly #litterbox: Performer;
  readonly #only: string | undefined;
  readonly #diffs: DiffLines;

  /** @param only the one sandbox that the page is about */
  constructor(litterbox: Performer, only: string | undefined) {
    this.#litterbox = litterbox;
    this.#only = only;
    this.#diffs = new DiffLines(litterbox);
  }

  async answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('The page was closed.')));
    try {
      const found = await this.#find(request, url, gone.signal);
      if (found === undefined)
        return sendJson(response, 404, { error: { code: 'NOT_FOUND', message: 'No such answer.' } });
      if (Symbol.asyncIterator in found) return await sendLines(response, found as AsyncIterable<object>, gone.signal);
      sendJson(response, 200, found);
    } catch (error) {
      if (response.destroyed || response.headersSent) return void response.destroy(); // the page sees that the end is missing
      const { status, body } = errorAnswer(error);
      sendJson(response, status, body);
    }
  }

  async #find(request: IncomingMessage, url: URL, signal: AbortSignal): Promise<object | undefined> {
    const [kind, name = '', what = '', which = '', ...rest] = url.pathname.slice('/api/'.length).split('/');
    if (kind === 'forecast' && name === '') return await readForecast(this.#litterbox, signal);
    if (kind !== 'sandboxes' || rest.length > 0) return undefined;
    if (name === '') return await listWorks(this.#litterbox, this.#only, signal);
    const sandbox = decodeURIComponent(name);
    if (this.#only !== undefined && sandbox !== this.#only) return undefined;
    if (request.method === 'POST') return await this.#answerPost(sandbox, what, await readBody(request), signal);
    if (what === 'diff')
      return this.#diffs.read(sandbox, url.searchParams.get('part') === 'since' ? 'since' : 'all', signal);
    if (what === 'notes') return await readNotes(this.#litterbox, sandbox, signal);
    if (what !== 'calls') return undefined;
    return which === ''
      ? await readCalls(this.#litterbox, sandbox, signal)
      : await readOneCall(this.#litterbox, sandbox, decodeURIComponent(which), signal);
  }

  /** Decisions, and questions about paths: those may be many, and of bytes that no address carries. */
  async #answerPost(sandbox: string, what: string, sent: unknown, signal: AbortSignal): Promise<object | undefined> {
    const body = (sent ?? {}) as PostBody;
    const { path = '', from, tip = '', paths = [], parts = [], settled = [], commit, integration = 'merge' } = body;
    switch (what) {
      case 'plan':
        return await readPlan(this.#litterbox, { sandbox, integration, paths, parts, settled, commit }, signal);
      case 'conflict':
        return await readConflict(this.#litterbox, sandbox, { path, integration, paths, parts, tip }, signal);
      case 'sides':
        return await readSides(this.#litterbox, sandbox, { path, from, tip }, signal);
      case 'whole':
        return await readWhole(this.#litterbox, sandbox, { path, from, tip }, signal);
      case 'blame':
        return await readBlame(this.#litterbox, sandbox, path, signal);
      case 'note': {
        const { line = 0, words = '' } = body;
        return await addNote(this.#litterbox, sandbox, { path, line, words, tip }, signal);
      }
      case 'unnote':
        return await dropNote(this.#litterbox, sandbox, body.note ?? 0, signal);
      case 'apply':
      case 'merge':
        return await decide(this.#litterbox, sandbox, what, decisionOf(sent), signal);
      default:
        return undefined;
    }
  }
}

/** A lone half of a pair, which a path may hold, is written as an escape and comes back as it was. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** @param gone aborted when the page was closed: nothing waits for it then, and no listener of a wait is left */
async function sendLines(response: ServerResponse, objects: AsyncIterable<object>, gone: AbortSignal): Promise<void> {
  for await (const object of objects) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' });
    if (!response.write(`${JSON.stringify(object)}\n`)) await once(response, 'drain', { signal: gone });
    if (response.destroyed) return;
  }
  response.end();
}
