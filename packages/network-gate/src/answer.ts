import type { Destination, Refusal } from './parse-connect.ts';

const PHRASES: Readonly<Record<Refusal['status'], string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** What a program is told for whose connection the way is open. */
export const ESTABLISHED = Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n', 'latin1');

/**
 * What a program is told that is refused: most programs show the status line alone, so that the reason stands there too. All of it
 * is ASCII, and of what the program said only what {@link parseConnect} has let through.
 */
export function refusalBytes({ status, reason }: Refusal, missing?: Destination): Buffer {
  const rule = missing && (missing.port === 443 ? missing.host : `${missing.host}:${missing.port}`);
  const text = [
    `litterbox: ${reason}.`,
    ...(rule === undefined
      ? []
      : [
          'A person can allow it for new sandboxes, in .litterbox.toml, and has to agree to the file then:',
          '',
          '[network]',
          `allow = ["${rule}"]`,
        ]),
    '',
  ].join('\n');
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status]} (litterbox: ${reason.slice(0, 200)})`,
    'Content-Type: text/plain; charset=us-ascii',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    'Proxy-Connection: close',
    '',
    '',
  ].join('\r\n');
  return Buffer.from(head + text, 'latin1');
}
