import { LitterboxError } from '../domain/errors/errors.ts';
import { shown } from '../domain/text/shown.ts';

/** The proxy by which the person's machine reaches the Internet, such as a company's. */
export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`, where its address holds a name and a password. */
  readonly authorization?: string;
  /** Whether a host is reached without it. */
  isBypassed(host: string): boolean;
}

/** As curl looks for them: the first that says something counts. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/** All that {@link upstreamProxyOf} looks at, for who hands an environment on. */
export const PROXY_VARIABLES: readonly string[] = [...VARIABLES, 'no_proxy', 'NO_PROXY'];

/**
 * The proxy that the person's environment names, as programs of theirs read it (curl(1), "ENVIRONMENT").
 *
 * @throws LitterboxError `UNSUPPORTED` for one that is not spoken to by plain HTTP.
 */
export function upstreamProxyOf(environment: Readonly<Record<string, string | undefined>>): UpstreamProxy | undefined {
  const name = VARIABLES.find((variable) => (environment[variable] ?? '') !== '');
  if (name === undefined) return undefined;
  const text = environment[name] ?? '';
  const url = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url?.protocol !== 'http:' || url.hostname === '') {
    const got = url ? shown(`${url.protocol}//${url.host}`) : 'no address';
    throw new LitterboxError('UNSUPPORTED', `The proxy of ${name} cannot be used for sandboxes: ${got}.`, {
      operation: 'network.open',
      hint: `Set ${name} to http://HOST:PORT, or unset it where litterbox is started.`,
    });
  }
  const { hostname, port, username, password } = url;
  const bypass = bypassOf(environment['no_proxy'] ?? environment['NO_PROXY'] ?? '');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 80 : Number(port),
    ...(username !== '' && { authorization: `Basic ${basic(username, password)}` }),
    isBypassed: bypass,
  };
}

function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return btoa(String.fromCharCode(...bytes));
}

/** Names and what is below them; a star is everything. Ports and addresses say nothing of a name. */
function bypassOf(list: string): (host: string) => boolean {
  const names = list
    .toLowerCase()
    .split(/[\s,]+/)
    .map((name) => name.replace(/^\*?\./, '').replace(/\.$/, ''))
    .filter((name) => name !== '');
  return (host) => names.some((name) => name === '*' || host === name || host.endsWith(`.${name}`));
}
