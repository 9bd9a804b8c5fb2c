import { LitterboxError, shown } from '@litterbox/core/provider';

/** Where to log in, as a person writes it. What is absent comes from the client's configuration. */
export interface Destination {
  /** A host name, an address, or a Host of the client's configuration. */
  readonly host: string;
  readonly user?: string;
  /** 1 to 65535. */
  readonly port?: number;
}

/** No sign at the start, which a program takes for an option, and nothing that a shell or a configuration file reads. */
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;
const IPV6 = /^[0-9a-fA-F:]{2,39}(?:%[A-Za-z0-9._-]{1,15})?$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

/**
 * Reads `[USER@]HOST[:PORT]` or `ssh://[USER@]HOST[:PORT]`; an IPv6 address with a port stands in square brackets.
 *
 * @throws LitterboxError `SSH_HOST_INVALID`
 */
export function parseDestination(text: string): Destination {
  const bare = text.startsWith('ssh://') ? text.slice('ssh://'.length).replace(/\/$/, '') : text;
  const at = bare.lastIndexOf('@');
  const user = at < 0 ? undefined : bare.slice(0, at);
  const rest = bare.slice(at + 1);
  const [, bracketed, name, portText] =
    /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/.exec(rest) ?? (IPV6.test(rest) ? [rest, rest] : []);
  const host = bracketed ?? name ?? '';
  const port = portText === undefined ? undefined : Number(portText);
  const isHost = bracketed === undefined ? HOST.test(host) : IPV6.test(host) && host.includes(':');
  if (!isHost || (user !== undefined && !USER.test(user)) || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new LitterboxError('SSH_HOST_INVALID', `${shown(text)} is not a destination; want [USER@]HOST[:PORT].`, {
      operation: 'host.connect',
      hint: 'Name a host of ~/.ssh/config, a host name or an address, such as me@build.example.org:2222. Options belong into ~/.ssh/config.',
    });
  }
  return { host, ...(user !== undefined && { user }), ...(port !== undefined && { port }) };
}

/** As it is told to people: `ssh://me@10.0.0.7:22`. */
export function showDestination({ host, user, port }: Destination): string {
  return `ssh://${user === undefined ? '' : `${user}@`}${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
}
