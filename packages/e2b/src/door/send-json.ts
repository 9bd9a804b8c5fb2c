import type { ServerResponse } from 'node:http';

/** Answers with JSON. A status of 204 has no body. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (body === undefined) return void response.writeHead(status, headers).end();
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
