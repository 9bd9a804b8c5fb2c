import { BlockList, isIP } from 'node:net';

/** What is not a host of the Internet. From IANA's registries of special-purpose addresses, and 6to4 relays (RFC 7526). */
const SPECIAL_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // what a machine in Azure is served by
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

/** Addresses of IPv4 for machines that have IPv6 alone (NAT64): the last four bytes are the address. */
const NAT64 = new BlockList();
NAT64.addSubnet('64:ff9b::', 96, 'ipv6');

const special = new BlockList();
for (const [address, bits] of SPECIAL_4) special.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of SPECIAL_6) special.addSubnet(address, bits, 'ipv6');
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/** Networks that people have for themselves: RFC 1918, RFC 4193, and RFC 6598, which networks over a tunnel use. */
const privately = new BlockList();
privately.addSubnet('10.0.0.0', 8, 'ipv4');
privately.addSubnet('172.16.0.0', 12, 'ipv4');
privately.addSubnet('192.168.0.0', 16, 'ipv4');
privately.addSubnet('100.64.0.0', 10, 'ipv4');
/** Apart, for a list of both takes an address of IPv4 within one of IPv6 for the one within. */
const privately6 = new BlockList();
privately6.addSubnet('fc00::', 7, 'ipv6');
/** Within them what clouds and tunnels serve their machines by, metadata with credentials among it. */
const served = new BlockList();
served.addAddress('100.100.100.100', 'ipv4');
served.addAddress('100.100.100.200', 'ipv4');
served.addSubnet('fd00:ec2::', 32, 'ipv6');
served.addSubnet('fd20:ce::', 32, 'ipv6');
served.addSubnet('fd00:a9fe:a9fe::', 48, 'ipv6');
served.addSubnet('fd00:42::', 32, 'ipv6');

/** Whether a literal address is one of a private network, and none by which a cloud serves its machines. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  return version === 6
    ? privately6.check(address, 'ipv6') && !served.check(address, 'ipv6')
    : privately.check(address, 'ipv4') && !served.check(address, 'ipv4');
}

/** The address of IPv4 that a resolver for machines without IPv4 (DNS64) has put into one of IPv6; any other as it is. */
export function withoutNat64(address: string): string {
  if (isIP(address) !== 6 || address.includes('%') || !NAT64.check(address, 'ipv6')) return address;
  // As a URL has it: without a dotted end, the last two groups in hexadecimal.
  const { hostname } = new URL(`http://[${address}]`);
  const groups = hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Whether a literal address is one of a host on the Internet. Not when it belongs to this machine, its network or nobody, and not
 * when it carries an address of IPv4 within, but for {@link withoutNat64}: that address is judged.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isPublicAddress(literal: string): boolean {
  const address = withoutNat64(literal);
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false;
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
