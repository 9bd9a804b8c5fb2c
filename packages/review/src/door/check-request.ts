import type { IncomingMessage } from 'node:http';

/** A request that is not answered, with the words for whoever made it. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 405 | 415;
  readonly text: string;
}

/** Below it everything needs a session. */
export const API = '/api/';

/**
 * Refuses what does not come from our own page. A page of the web that points its name to this machine says that name as the host; another
 * page, also of another port of this machine, says its own origin.
 *
 * @param authority host and port of the server, as its own page says them
 */
export function checkRequest(request: IncomingMessage, authority: string): Refusal | undefined {
  const { url = '', method = '', headers } = request;
  // With a whole address in the first line it, and not the header that is looked at, would say which host is meant.
  if (!url.startsWith('/')) return { status: 400, text: 'Want a path, not an address.' };
  const hosts = request.headersDistinct['host'] ?? [];
  if (hosts.length !== 1 || hosts[0] !== authority) return { status: 403, text: `Want the host ${authority}.` };
  const origin = `http://${authority}`;
  if (headers.origin !== undefined && headers.origin !== origin)
    return { status: 403, text: 'Requests of other pages are not answered.' };
  if (!url.startsWith(API))
    return method === 'GET' ? undefined : { status: 405, text: 'Files of the page are read with GET.' };
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin')
    return { status: 403, text: 'Requests of other pages are not answered.' };
  if (method === 'GET') return undefined;
  if (method !== 'POST') return { status: 405, text: 'Want GET or POST.' };
  if (headers.origin === undefined) return { status: 403, text: 'A decision has to say the page that it comes from.' };
  return headers['content-type'] === 'application/json'
    ? undefined
    : { status: 415, text: 'Want the content type application/json.' };
}

/** The token of the header `Authorization`; never of an address or a cookie, which other programs and ports see. */
export function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer ([A-Za-z0-9_-]{43})$/.exec(request.headers.authorization ?? '')?.[1];
}
