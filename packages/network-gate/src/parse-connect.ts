/** Where a program inside wants to go: a name in lower case without a dot at its end, and a port from 1 to 65535. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** Why a request is not answered. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: 400 | 403 | 405 | 429 | 502 | 503;
  /** One sentence for people. */
  readonly reason: string;
}

/** Longest head of a request, in bytes. */
export const MAX_HEAD_BYTES = 8 * 1024;

const REQUEST = /^([A-Z]{3,20}) ([\u0021-\u007e]{1,1024}) HTTP\/1\.[01]$/;
const TARGET = /^([A-Za-z0-9.-]{1,254}):([1-9][0-9]{0,4})$/;
/** Names of the Internet alone: ASCII, two labels at least, and a last one that no resolver takes for a number. */
const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;
/** A name as RFC 9110 has it, and a value of visible ASCII, blanks and tabs. No continued lines. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}):([\u0020-\u007e\t]{0,2048})$/;
/** A request for a connection has no body, and must not look to anybody as if it had. */
const OF_BODIES = new Set(['transfer-encoding', 'content-length', 'upgrade', 'http2-settings', 'te', 'trailer']);

const ONLY_HTTPS: Refusal = {
  status: 405,
  reason: 'only HTTPS goes through here, by CONNECT: use an https address, and a program that knows HTTPS_PROXY',
};

/**
 * The head of one HTTP request as bytes decoded one by one (latin1), without the empty line at its end. Whatever is not exactly
 * what programs send is refused here, before any rule is looked at and any name resolved: no two readers may differ about it.
 */
export function parseConnect(head: string): Destination | Refusal {
  const [first = '', ...lines] = head.split('\r\n');
  const [, method, target = ''] = REQUEST.exec(first) ?? [];
  if (method === undefined) return malformed('its first line is none of HTTP');
  if (method !== 'CONNECT') return ONLY_HTTPS;
  const [, name = '', digits = ''] = TARGET.exec(target) ?? [];
  if (name === '') return malformed('it names no host and port, such as example.org:443');
  const host = name.toLowerCase().replace(/\.$/, '');
  const port = Number(digits);
  if (!HOST.test(host)) return malformed('its host is not a name on the Internet; addresses are refused');
  if (port > 65_535) return malformed('its port is larger than 65535');
  const seen = new Set<string>();
  if (lines.length > 64) return malformed('it has more than 64 headers');
  for (const line of lines) {
    const [, key, value = ''] = HEADER.exec(line) ?? [];
    if (key === undefined) return malformed('one of its headers is none of HTTP');
    const folded = key.toLowerCase();
    if (OF_BODIES.has(folded))
      return malformed(`it has the header ${folded}, which a request for a connection has not`);
    if (folded !== 'host') continue;
    if (seen.has(folded)) return malformed('it has two Host headers');
    seen.add(folded);
    if (!isSame(value.trim(), host, port)) return malformed('its Host header names another host');
  }
  return { host, port };
}

function isSame(value: string, host: string, port: number): boolean {
  const [, name = '', digits] = /^([A-Za-z0-9.-]{1,254})(?::([0-9]{1,5}))?$/.exec(value) ?? [];
  if (name.toLowerCase().replace(/\.$/, '') !== host) return false;
  return digits === undefined || Number(digits) === port;
}

function malformed(what: string): Refusal {
  return { status: 400, reason: `the request is not understood: ${what}` };
}
