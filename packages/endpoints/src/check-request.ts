import { type EndpointPolicy, isListedPath } from '@litterbox/core/provider';
import type { Refusal } from './refusal.ts';

/** The parts of a request that decide whether it is carried. */
export interface RequestHead {
  readonly method: string;
  /** As it came: path and query. */
  readonly target: string;
  readonly httpVersion: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** A request as the server gets it. */
export interface CheckedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With the query. */
  readonly target: string;
  /** By names in small letters, without the secret's own. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: 'none' | 'sized' | 'chunked';
}

const MAX_HEADERS = 100;
/** The characters of RFC 3986 alone: nothing that one server reads as something else. */
const TARGET = /^(\/[\w.~!$&'()*+,;=:@/%-]*)(?:\?([\w.~!$&'()*+,;=:@/?%[\]-]*))?$/;
/** Another spelling of what the list is compared with: a slash, a dot, a backslash, a percent sign, a control character. */
const HIDDEN_IN_PATH = /%(?![0-9a-f]{2})|%(?:2f|2e|5c|25|[01][0-9a-f]|7f)/i;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VALUE = /^[\u0020-\u007e\t]*$/;
/** Parameters that carry a credential for servers that take one there. */
const CREDENTIAL_PARAMETERS =
  /^(?:key|api[-_]?key|(?:access|id|refresh|oauth|auth|private|job)[-_]?token|token|auth|authorization|client[-_]?secret|x-amz-.*)$/;
/** Between two programs that speak to each other directly, by RFC 9110, and what Node writes itself. */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|host|expect|accept-encoding)$/;
/** Names of headers that log somebody in. */
const CREDENTIAL =
  /(?:^|[-_])(?:api[-_]?key|auth|authorization|cookie2?|credentials?|jwt|passw(?:or)?d|secret|token)(?:$|[-_])/;
/** Tells a server to read another method, path or host than stands in the first line. */
const OTHER_REQUEST =
  /^(?:x-http-method.*|x-method-override|x-original-.*|x-rewrite-.*|x-forwarded.*|forwarded|via|x-real-ip|x-host|max-forwards)$/;

/**
 * Looks at a request of a program inside, before anything is read or dialled for it.
 *
 * @param port where it came to
 */
export function checkRequest(head: RequestHead, policy: EndpointPolicy, port: number): CheckedRequest | Refusal {
  const { method, target, httpVersion, rawHeaders } = head;
  if (httpVersion !== '1.1') return malformed('it is not HTTP/1.1');
  if (!policy.methods.includes(method))
    return { status: 405, reason: `the endpoint ${policy.name} takes ${policy.methods.join(', ')} alone` };
  const fields = readFields(rawHeaders);
  if ('status' in fields) return fields;
  const host = fields.get('host') ?? [];
  if (host.length !== 1 || !isNear(host[0] ?? '', port))
    return { status: 421, reason: `the Host of a request has to be 127.0.0.1:${port}` };
  const [, path = '', query = ''] = TARGET.exec(target) ?? [];
  if (path === '' || HIDDEN_IN_PATH.test(path) || /\/\/|\/\.{1,2}(?:[/;]|$)/.test(path))
    return malformed('its path is not absolute, or could be read as another one');
  if (!isListedPath(policy.paths, path))
    return { status: 403, reason: `the endpoint ${policy.name} does not lead to that path` };
  const parameter = query.split(/[&;]/).find((pair) => CREDENTIAL_PARAMETERS.test(parameterName(pair)));
  if (parameter !== undefined)
    return { status: 400, reason: 'its query has a credential: leave it out, since the endpoint sets its own' };
  const body = bodyOf(fields);
  if (typeof body !== 'string') return body;
  const headers = carried(fields, policy);
  const isHeld = [target, ...Object.values(headers).flat()].some((text) => text.includes(policy.placeholder));
  if (isHeld) return { status: 400, reason: 'the placeholder of the secret stands where no credential belongs' };
  return { method, path, target, headers, body };
}

function readFields(raw: readonly string[]): Map<string, string[]> | Refusal {
  if (raw.length > 2 * MAX_HEADERS) return malformed(`it has more than ${MAX_HEADERS} headers`);
  const fields = new Map<string, string[]>();
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    if (!NAME.test(name) || !VALUE.test(value)) return malformed('one of its headers is none of HTTP');
    const folded = name.toLowerCase();
    fields.set(folded, [...(fields.get(folded) ?? []), value]);
  }
  return fields;
}

function isNear(host: string, port: number): boolean {
  const folded = host.toLowerCase();
  return ['127.0.0.1', 'localhost', '[::1]'].some(
    (name) => folded === `${name}:${port}` || (port === 80 && folded === name),
  );
}

/** Both would let two servers differ about where a request ends. */
function bodyOf(fields: ReadonlyMap<string, readonly string[]>): CheckedRequest['body'] | Refusal {
  const lengths = fields.get('content-length') ?? [];
  const codings = fields.get('transfer-encoding') ?? [];
  if (lengths.length + codings.length > 1) return malformed('it says twice how long its body is');
  if (codings.length === 1)
    return codings[0]?.toLowerCase() === 'chunked' ? 'chunked' : malformed('its body is neither sized nor chunked');
  if (lengths.length === 0) return 'none';
  return /^[0-9]{1,15}$/.test(lengths[0] ?? '') ? 'sized' : malformed('the length of its body is no number');
}

function carried(
  fields: ReadonlyMap<string, readonly string[]>,
  { header }: EndpointPolicy,
): Readonly<Record<string, readonly string[]>> {
  const named = (fields.get('connection') ?? []).flatMap((value) => value.toLowerCase().split(/[\s,]+/));
  const isLeftOut = (name: string) =>
    name === header.name ||
    HOP_BY_HOP.test(name) ||
    CREDENTIAL.test(name) ||
    OTHER_REQUEST.test(name) ||
    (named.includes(name) && name !== 'content-length');
  return Object.fromEntries([...fields].filter(([name]) => !isLeftOut(name)));
}

function parameterName(pair: string): string {
  const name = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).trim().toLowerCase();
  } catch {
    return 'key'; // what cannot be read may be one
  }
}

function malformed(what: string): Refusal {
  return { status: 400, reason: `the request is not understood: ${what}` };
}
