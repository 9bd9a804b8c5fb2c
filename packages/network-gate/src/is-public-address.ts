import { BlockList, isIP } from 'node:net';

/** What is not a host of the Internet. From IANA's registries of special-purpose addresses, and 6to4 relays (RFC 7526). */
const SPECIAL_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // with the metadata services of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Within 2000::/3, the only part of IPv6 that is given to hosts: whatever is outside of it needs no line here. */
const SPECIAL_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // Teredo, ORCHID, benchmarks
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: an IPv4 address within
  ['3fff::', 20],
];

const special = new BlockList();
for (const [address, bits] of SPECIAL_4) special.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of SPECIAL_6) special.addSubnet(address, bits, 'ipv6');
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether a literal address is one of a host on the Internet. Not when it belongs to this machine, its network or nobody, and not
 * when it carries an address of IPv4 within.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false;
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
