import type { IncomingMessage } from 'node:http';

/** Says in words why a request is not answered; undefined where it is. Only programs of this machine get in, and no page of the web. */
export function refusalOf({ url = '', headers, headersDistinct }: IncomingMessage, port: number): string | undefined {
  // With a whole address in the first line it, and not the header that is looked at, would say which host is meant.
  if (!url.startsWith('/')) return 'Want a path, not an address.';
  const hosts = headersDistinct['host'] ?? [];
  // A page of the web that points its own name to this machine says that name as the host.
  const isOurs = hosts.length === 1 && (hosts[0] === `127.0.0.1:${port}` || hosts[0] === `localhost:${port}`);
  if (!isOurs) return `Want the host 127.0.0.1:${port}.`;
  return headers.origin === undefined ? undefined : 'Requests of web pages are not answered.';
}
