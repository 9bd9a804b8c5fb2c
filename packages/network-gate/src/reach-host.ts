import { lookup } from 'node:dns/promises';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import type { Clock } from '@litterbox/core/provider';
import { isPublicAddress, withoutNat64 } from './is-public-address.ts';
import { ownNetworks } from './own-networks.ts';
import type { Destination, Refusal } from './parse-connect.ts';

/** How hosts are found and reached. Every part has a usual one; tests bring their own. */
export interface Reach {
  /** All addresses of a name, as literals. Rejects when there are none. */
  resolve(host: string): Promise<readonly string[]>;
  /** A connection to a literal address. Nothing is looked up. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Socket>;
  /** Networks that this machine is in, as `ADDRESS/BITS`: a public address in one of them is none of the Internet's. */
  ownNetworks(): readonly string[];
  /** @defaultValue {@link isPublicAddress} */
  isPublic(address: string): boolean;
}

const RESOLVE_MS = 5_000;
const DIAL_MS = 10_000;
/** Of a name; more are no host's but somebody's trick. */
const MAX_ADDRESSES = 64;
/** That are tried, one after the other. */
const MAX_ATTEMPTS = 4;

export const USUAL_REACH: Reach = {
  // By the machine's own configuration, as a program outside would; what it finds is looked at before it is used.
  resolve: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  dial,
  ownNetworks,
  isPublic: isPublicAddress,
};

/**
 * Looks a name up once and connects to one of its addresses. When one of them is none of the Internet's, none is used: a name that
 * leads into this machine or its network today or in a moment is somebody's attempt to get there.
 */
export async function reachHost(
  { host, port }: Destination,
  reach: Reach,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly socket: Socket; readonly address: string } | Refusal> {
  const addresses = await within(RESOLVE_MS, clock, signal, () => reach.resolve(host)).catch(() => undefined);
  if (!addresses || addresses.length === 0) return { status: 502, reason: `the name ${host} was not found` };
  const own = listOf(reach.ownNetworks());
  const isOwn = (address: string) => own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const isOutside = (address: string) => reach.isPublic(address) && !isOwn(address) && !isOwn(withoutNat64(address));
  if (addresses.length > MAX_ADDRESSES || !addresses.every(isOutside))
    return { status: 403, reason: `the name ${host} leads to an address that is not on the Internet` };
  for (const address of addresses.slice(0, MAX_ATTEMPTS)) {
    const attempt = new AbortController();
    const both = AbortSignal.any([signal, attempt.signal]);
    const dialling = reach.dial(address, port, both);
    const socket = await within(DIAL_MS, clock, signal, () => dialling).catch(() => undefined);
    if (socket) return { socket, address };
    attempt.abort();
    dialling.then((late) => late.destroy()).catch(() => {}); // it has been given up
    if (signal.aborted) break;
  }
  return { status: 502, reason: `${host} does not answer on port ${port}` };
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const version = isIP(address);
    if (version !== 0) list.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Rejects when the time is over or the signal says so, whatever becomes of the work. */
export async function within<Result>(
  limitMs: number,
  clock: Clock,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
    throw new Error('too late');
  });
  late.catch(() => {}); // it loses the race, mostly
  try {
    return await Promise.race([work(), late]);
  } finally {
    done.abort();
  }
}

function dial(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, autoSelectFamily: false });
    const abort = () => socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
