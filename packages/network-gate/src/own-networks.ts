import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** Wider routes lead to the Internet through a tunnel, and are no network of this machine. */
const MIN_BITS_4 = 8;
const MIN_BITS_6 = 16;

/**
 * The networks that this machine is in, as `ADDRESS/BITS`: those of its interfaces, those that its routes lead to without a
 * gateway, and each gateway. Where the kernel shows no routes, the interfaces alone.
 */
export function ownNetworks(): readonly string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap(
    (list) => list?.flatMap(({ cidr }) => cidr ?? []) ?? [],
  );
  return [...interfaces, ...routes4(read('/proc/net/route')), ...routes6(read('/proc/net/ipv6_route'))];
}

/** The addresses of this machine itself, as literals. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}

/** Of the text of `/proc/net/route`: what is reached without a gateway, and gateways. */
export function routes4(text: string): readonly string[] {
  const networks: string[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, destination, gateway, , , , , mask] = line.split('\t');
    if (!isHex(destination, 8) || !isHex(gateway, 8) || !isHex(mask, 8)) continue;
    const bits = Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length;
    if (Number.parseInt(gateway, 16) !== 0) networks.push(`${address4(gateway)}/32`);
    else if (bits >= MIN_BITS_4) networks.push(`${address4(destination)}/${bits}`);
  }
  return networks;
}

/** Of the text of `/proc/net/fib_trie`: what the machine takes for itself, which are its routes of the type LOCAL. */
export function locals4(text: string): readonly string[] {
  const networks: string[] = [];
  let address = '';
  for (const line of text.split('\n')) {
    address = /\|-- ([0-9.]{7,15})$/.exec(line)?.[1] ?? address;
    const bits = /^ *\/([0-9]{1,2}) host LOCAL$/.exec(line)?.[1];
    if (bits !== undefined) networks.push(`${address}/${bits}`);
  }
  return [...new Set(networks)];
}

/** Of the text of `/proc/net/if_inet6`: addresses of the machine itself. */
export function interfaces6(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [address] = line.split(' ');
    return isHex(address, 32) ? [address6(address)] : [];
  });
}

/** Of the text of `/proc/net/ipv6_route`: what is reached without a gateway, and gateways. */
export function routes6(text: string): readonly string[] {
  const networks: string[] = [];
  for (const line of text.split('\n')) {
    const [destination, length, , , gateway] = line.split(' ');
    if (!isHex(destination, 32) || !isHex(length, 2) || !isHex(gateway, 32)) continue;
    const bits = Number.parseInt(length, 16);
    if (!/^0+$/.test(gateway)) networks.push(`${address6(gateway)}/128`);
    else if (bits >= MIN_BITS_6) networks.push(`${address6(destination)}/${bits}`);
  }
  return networks;
}

function isHex(word: string | undefined, length: number): word is string {
  return word?.length === length && /^[0-9a-fA-F]+$/.test(word);
}

/** The kernel writes the four bytes as one number of this machine, which has the lowest first. */
function address4(word: string): string {
  return [...Buffer.from(word, 'hex').reverse()].join('.');
}

function address6(word: string): string {
  return (word.match(/.{4}/g) ?? []).join(':');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
