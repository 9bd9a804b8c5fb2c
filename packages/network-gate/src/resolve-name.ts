import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const MAX_HOSTS_BYTES = 2 ** 20;

/**
 * All addresses of a name, by this machine's own configuration: its hosts file, else its resolver. The resolver is asked with a dot at
 * the end. Without it a name that is not found is asked for once more with each `search` domain of the machine (resolv.conf(5)): what
 * programs in a sandbox ask for would reach the resolver of a company, and a name that it answers for everybody would be "the host".
 *
 * @param hostsFile see hosts(5)
 * @param ask the resolver; tests bring their own
 */
export async function resolveName(
  host: string,
  hostsFile = '/etc/hosts',
  ask: (name: string) => Promise<readonly { readonly address: string }[]> = askResolver,
): Promise<readonly string[]> {
  const text = await readFile(hostsFile, 'latin1').catch(() => '');
  const known = text.length > MAX_HOSTS_BYTES ? [] : addressesIn(text, host);
  if (known.length > 0) return known;
  return (await ask(`${host}.`)).map(({ address }) => address);
}

const askResolver = async (name: string) => await lookup(name, { all: true, verbatim: true });

/** @param hosts text as of hosts(5) */
export function addressesIn(hosts: string, wanted: string): readonly string[] {
  const found: string[] = [];
  for (const line of hosts.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) !== 0 && names.some((name) => name.toLowerCase() === wanted)) found.push(address);
  }
  return found;
}
