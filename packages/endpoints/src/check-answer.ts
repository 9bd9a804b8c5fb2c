import type { EndpointPolicy } from '@litterbox/core/provider';
import type { Refusal } from './refusal.ts';

/** Between two servers, bound to a login, or of no meaning on loopback. */
const LEFT_OUT =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|set-cookie2?|alt-svc|strict-transport-security|clear-site-data)$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\u0020-\u007e\u0080-\u00ff\t]*$/;

/**
 * Looks at the head of an answer before a program inside sees it.
 *
 * @param rawHeaders names and values in turn
 * @returns names and values in turn. A redirect stays below the endpoint, or is refused: it would lead a program elsewhere
 */
export function checkAnswer(
  status: number,
  rawHeaders: readonly string[],
  { url, name: endpoint }: Pick<EndpointPolicy, 'url' | 'name'>,
  secret: string,
): readonly string[] | Refusal {
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (name.includes(secret) || value.includes(secret))
      return {
        status: 502,
        reason: `the server of the endpoint ${endpoint} answered with the secret, so its answer is kept back`,
      };
    const folded = name.toLowerCase();
    if (LEFT_OUT.test(folded) || !NAME.test(name) || !VALUE.test(value)) continue;
    if (folded !== 'location') {
      headers.push(name, value);
      continue;
    }
    const near = nearLocation(value, url);
    if (near !== undefined) headers.push(name, near);
    else if (status >= 300 && status < 400)
      return {
        status: 502,
        reason: `the server of the endpoint ${endpoint} redirects to another place, where it does not lead`,
      };
  }
  return headers;
}

/** The same place as a program inside has to name it. */
function nearLocation(location: string, url: string): string | undefined {
  const base = new URL(url);
  const path = base.pathname.replace(/\/$/, '');
  const target = URL.parse(location, `${base.origin}${path}/`);
  if (!target || target.origin !== base.origin || target.username !== '' || target.password !== '') return undefined;
  if (path !== '' && !target.pathname.startsWith(`${path}/`)) return undefined;
  return `${target.pathname.slice(path.length)}${target.search}`;
}
