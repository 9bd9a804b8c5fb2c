import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Agent, request as requestOverTls } from 'node:https';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type EndpointBooks, type EndpointPolicy, isLitterboxError } from '@litterbox/core/provider';
import { checkAnswer } from './check-answer.ts';
import { type CheckedRequest, checkRequest } from './check-request.ts';
import { LeakedSecret, leakGuard } from './leak-guard.ts';
import { ProxyFailure } from './proxy-agent.ts';
import { answerRefusal, type Refusal } from './refusal.ts';
import { RequestLog } from './request-log.ts';
import { UsageReader } from './usage-reader.ts';

/** All that the requests of one endpoint share. */
export interface EndpointParts {
  readonly policy: EndpointPolicy;
  readonly books: EndpointBooks;
  readonly agent: Agent;
  /** The certificates that the server's is checked by. Absent: those of Node and of the person's variables. */
  readonly ca?: string | undefined;
  /** Both ways silent for so long, in milliseconds. A model may think for minutes before its first word. */
  readonly idleMs: number;
}

/** One request of a program inside, from its head to the end of its answer. Resolves when it ended; never rejects. */
export async function forwardRequest(
  parts: EndpointParts,
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: { readonly socket: Duplex; readonly head: Buffer },
): Promise<void> {
  const { policy, books } = parts;
  const { method = '', url: target = '', httpVersion, rawHeaders } = request;
  // Claude Code asks that before all else; nothing of it has to leave.
  if (method === 'HEAD' && target === '/api/hello') return void response.writeHead(200).end();
  const checked = checkRequest({ method, target, httpVersion, rawHeaders }, policy, policy.inside);
  const path = target.split('?', 1)[0] ?? '';
  const log = await RequestLog.begin(books, { method, path });
  if (!(log instanceof RequestLog)) return answerRefusal(response, log);
  const refuse = (refusal: Refusal) => {
    log.end(refusal.reason);
    answerRefusal(response, refusal);
  };
  if ('reason' in checked) return refuse(checked);
  // Frames of a WebSocket are not read, so it could spend unseen.
  if (upgrade && policy.budget?.tokens !== undefined)
    return refuse({ status: 400, reason: 'a WebSocket cannot be held to a budget of tokens' });
  const secret = await readSecret(books, policy);
  if (typeof secret !== 'string') return refuse(secret);
  try {
    await carry({ ...parts, log, secret, refuse }, checked, request, response, upgrade);
    log.end();
  } catch (error) {
    refuse(failureOf(error, policy));
  }
}

interface Carrying extends EndpointParts {
  readonly log: RequestLog;
  readonly secret: string;
  readonly refuse: (refusal: Refusal) => void;
}

async function carry(
  carrying: Carrying,
  checked: CheckedRequest,
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: { readonly socket: Duplex; readonly head: Buffer } | undefined,
): Promise<void> {
  const { log, idleMs } = carrying;
  const outgoing = openRequest(carrying, checked, upgrade !== undefined);
  const leave = () => {
    if (!response.writableFinished) outgoing.destroy(new Error('the program inside went away'));
  };
  response.once('close', leave);
  const late = () => {
    outgoing.destroy(new Late());
    upgrade?.socket.destroy();
  };
  const idle = setTimeout(late, idleMs).unref();
  const { sent, received } = counters(log, idle);
  try {
    const answered = answerOf(outgoing);
    answered.catch(() => {}); // awaited below, and it may fail before that
    if (upgrade || checked.body === 'none') outgoing.end();
    else {
      // Not awaited: a server may answer before it has read all.
      pipeline(request, sent, outgoing).catch((error: Error) => outgoing.destroy(error));
    }
    const answer = await answered;
    log.status = answer.message.statusCode;
    if (answer.message.statusCode === 401) carrying.books.forgetSecret();
    idle.refresh();
    const headers = checkAnswer(
      answer.message.statusCode ?? 0,
      answer.message.rawHeaders,
      carrying.policy,
      carrying.secret,
    );
    if ('reason' in headers) throw new Kept(headers);
    if (answer.socket && upgrade) {
      response.off('close', leave);
      await carryBoth({ ...carrying, sent, received: received() }, answer, upgrade);
      return;
    }
    response.writeHead(answer.message.statusCode ?? 502, [...headers]);
    response.flushHeaders();
    const usage = new UsageReader(answer.message.headers['content-type']);
    try {
      await pipeline(answer.message, received(usage), leakGuard(carrying.secret), response);
    } finally {
      usage.end(log.sentBytes);
      log.tokens = usage.tokens;
    }
  } catch (error) {
    outgoing.destroy();
    throw error;
  } finally {
    clearTimeout(idle);
    response.off('close', leave);
  }
}

/** Let bytes through, count them, and put the end for silence off. */
function counters(
  log: RequestLog,
  idle: NodeJS.Timeout,
): { readonly sent: Counted; received(usage?: UsageReader): Counted } {
  const counted = (add: (bytes: number, chunk: Buffer) => void): Counted =>
    async function* count(chunks) {
      for await (const chunk of chunks) {
        idle.refresh();
        add(chunk.length, chunk);
        yield chunk;
      }
    };
  return {
    sent: counted((bytes) => (log.sentBytes += bytes)),
    received: (usage) =>
      counted((bytes, chunk) => {
        log.receivedBytes += bytes;
        usage?.push(chunk);
      }),
  };
}

function openRequest(
  { policy, agent, ca, secret }: Carrying,
  checked: CheckedRequest,
  isUpgrade: boolean,
): ClientRequest {
  const url = new URL(policy.url);
  return requestOverTls({
    agent,
    ca,
    host: hostOf(policy),
    port: url.port === '' ? 443 : Number(url.port),
    method: checked.method,
    path: `${url.pathname.replace(/\/$/, '')}${checked.target}`,
    setHost: false,
    headers: {
      ...headersOf(checked, isUpgrade),
      host: url.host,
      // An answer that is packed cannot be searched for the secret.
      'accept-encoding': 'identity',
      [policy.header.name]: policy.header.value.replace('{secret}', () => secret),
    },
  });
}

/** The name or the address of the server, without a port. */
export const hostOf = ({ url }: EndpointPolicy): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

function headersOf({ headers, body, method }: CheckedRequest, isUpgrade: boolean): OutgoingHttpHeaders {
  const {
    'content-length': length,
    'sec-websocket-extensions': _extensions, // one of them packs
    'sec-websocket-protocol': protocols,
    ...rest
  } = headers;
  const found: OutgoingHttpHeaders = Object.fromEntries(Object.entries(rest).map(([name, all]) => [name, [...all]]));
  if (isUpgrade) {
    const kept = protocolsOf(protocols);
    return {
      ...found,
      connection: 'Upgrade',
      upgrade: 'websocket',
      ...(kept.length > 0 && { 'sec-websocket-protocol': kept.join(', ') }),
    };
  }
  if (body === 'chunked') return { ...found, 'transfer-encoding': 'chunked' };
  if (body === 'sized') return { ...found, 'content-length': length?.[0] };
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) ? found : { ...found, 'content-length': '0' };
}

/** Subprotocols, without those by which a browser logs in. */
function protocolsOf(values: readonly string[] = []): readonly string[] {
  const all = values.flatMap((value) => value.split(',').map((one) => one.trim()));
  return all.filter((one) => one !== '' && !/key|token|auth|bearer|secret/i.test(one));
}

interface Answer {
  readonly message: IncomingMessage;
  /** Where it became a WebSocket, with what came already. */
  readonly socket?: Duplex;
  readonly head?: Buffer;
}

function answerOf(outgoing: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', (message) => resolve({ message }));
    outgoing.once('upgrade', (message, socket, head) => resolve({ message, socket, head }));
    outgoing.on('error', reject);
    outgoing.once('close', () => reject(new Error('closed')));
  });
}

type Counted = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/** A WebSocket, both ways until either ends. */
async function carryBoth(
  { secret, sent, received }: Carrying & { readonly sent: Counted; readonly received: Counted },
  { message, socket, head }: Answer,
  inside: { readonly socket: Duplex; readonly head: Buffer },
): Promise<void> {
  if (!socket) return;
  const { 'sec-websocket-accept': accept = '', 'sec-websocket-protocol': protocol } = message.headers;
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    '',
    '',
  ];
  inside.socket.write(lines.join('\r\n'), 'latin1');
  if (inside.head.length > 0) inside.socket.unshift(inside.head);
  if (head && head.length > 0) socket.unshift(head);
  try {
    await Promise.all([
      pipeline(inside.socket, sent, socket),
      pipeline(socket, received, leakGuard(secret), inside.socket),
    ]);
  } finally {
    socket.destroy();
    inside.socket.destroy();
  }
}

async function readSecret(books: EndpointBooks, { name, secret }: EndpointPolicy): Promise<string | Refusal> {
  try {
    return await books.readSecret();
  } catch (error) {
    const why = isLitterboxError(error) ? ` (${error.code})` : '';
    return {
      status: 503,
      reason: `the secret ${secret.name} of the endpoint ${name} cannot be read outside${why}. The person sees why by a check of that secret`,
    };
  }
}

/** The server's answer is not given. */
class Kept extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

class Late extends Error {
  readonly code = 'LATE';
}

/** Repeats no more of an error of Node than its code: its message may hold what was sent. */
function failureOf(error: unknown, { name, url }: EndpointPolicy): Refusal {
  if (error instanceof Kept) return error.refusal;
  if (error instanceof LeakedSecret)
    return {
      status: 502,
      reason: `the server of the endpoint ${name} answered with the secret, so its answer was cut`,
    };
  if (error instanceof ProxyFailure) return { status: 502, reason: error.message };
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (code === 'LATE') return { status: 504, reason: `the server of the endpoint ${name} did not answer in time` };
  const shownCode = typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : '';
  return { status: 502, reason: `the connection with ${new URL(url).host} of the endpoint ${name} failed${shownCode}` };
}
