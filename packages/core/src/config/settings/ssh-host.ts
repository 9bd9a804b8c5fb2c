import { Refused, refusedValue, setting } from './setting.ts';

/** No sign at the start (ssh would take it for an option), and nothing that a shell or a config file would read. */
const HOST = /^(?!-)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;
const ADDRESS = /^\[?[0-9a-fA-F:]{2,39}\]?$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

export function sshHost(description: string) {
  return setting({ type: 'string', description }, (value): string | Refused => {
    if (value === undefined) return new Refused('CONFIG_MISSING', 'is missing', 'Write host = "build.example.org".');
    if (typeof value === 'string' && (HOST.test(value) || (ADDRESS.test(value) && value.includes(':')))) return value;
    const wanted = 'a host name, an address, or a Host of ~/.ssh/config';
    return refusedValue('SSH_HOST_INVALID', value, wanted, 'Put options into ~/.ssh/config, not here.');
  });
}

export function sshUser(description: string) {
  return setting({ type: 'string', description }, (value): string | Refused =>
    typeof value === 'string' && USER.test(value)
      ? value
      : refusedValue('CONFIG_VALUE', value, 'a user name', 'Write the login name on that host.'),
  );
}
