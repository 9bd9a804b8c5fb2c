import { BlockList, connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, type UpstreamProxy } from '@litterbox/core/provider';
import { dialByProxy } from './dial-by-proxy.ts';
import { isPrivateAddress, isPublicAddress, withoutNat64 } from './is-public-address.ts';
import { ownAddresses, ownNetworks } from './own-networks.ts';
import { resolveName } from './resolve-name.ts';
import type { Destination, Refusal } from './parse-connect.ts';

/** How hosts are found and reached. Every part has a usual one; tests bring their own. */
export interface Reach {
  /** All addresses of a name, as literals. Rejects when there are none. */
  resolve(host: string): Promise<readonly string[]>;
  /** A connection to a literal address. Nothing is looked up. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** Networks that this machine is in, as `ADDRESS/BITS`: a public address in one of them is none of the Internet's. */
  ownNetworks(): readonly string[] | Promise<readonly string[]>;
  /** Addresses of this machine itself, as literals. */
  ownAddresses(): readonly string[] | Promise<readonly string[]>;
  /** A connection to a proxy of the person's, by its name. @defaultValue one from this machine */
  dialName?(host: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** @defaultValue {@link isPublicAddress} */
  isPublic(address: string): boolean;
  /** The person's own proxy, which has to be used for all but the hosts that it leaves out. */
  readonly upstream?: UpstreamProxy | undefined;
}

const RESOLVE_MS = 5_000;
const DIAL_MS = 10_000;
/** Of a name; more are no host's but somebody's trick. */
const MAX_ADDRESSES = 64;
/** That are tried, one after the other. */
const MAX_ATTEMPTS = 4;

export const USUAL_REACH: Reach = {
  // What it finds is looked at before it is used.
  resolve: (host) => resolveName(host),
  dial,
  ownNetworks,
  ownAddresses,
  isPublic: isPublicAddress,
};

/**
 * Looks a name up once and connects to one of its addresses. When one of them is none of the Internet's, none is used: a name that
 * leads into this machine or its network today or in a moment is somebody's attempt to get there.
 *
 * @param mayBePrivate a person named this host as one of a private network: then those addresses are used too, but none of this machine
 */
export async function reachHost(
  { host, port }: Destination,
  reach: Reach,
  clock: Clock,
  signal: AbortSignal,
  mayBePrivate = false,
): Promise<Reached | Unreached> {
  const { upstream } = reach;
  if (upstream && !upstream.isBypassed(host)) return await reachByProxy(upstream, { host, port }, reach, clock, signal);
  const looking = within(RESOLVE_MS, clock, signal, () => reach.resolve(host)).catch(() => undefined);
  const surveying = within(RESOLVE_MS, clock, signal, async () => ({
    networks: await reach.ownNetworks(),
    own: await reach.ownAddresses(),
  })).catch(() => undefined);
  const [addresses, surveyed] = await Promise.all([looking, surveying]);
  if (!addresses || addresses.length === 0) return { status: 502, reason: `the name ${host} was not found` };
  if (!surveyed) return { status: 502, reason: 'the machine that dials does not tell its own networks' };
  const own = listOf(surveyed.networks);
  const isOwn = (address: string) => own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const isOutside = (address: string) => reach.isPublic(address) && !isOwn(address) && !isOwn(withoutNat64(address));
  const machine = listOf(surveyed.own.map((address) => `${address}/${isIP(address) === 6 ? 128 : 32}`));
  const isMachine = (address: string) => machine.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const isWithin = (address: string) => isPrivateAddress(address) && !isMachine(address);
  const isTooMany = addresses.length > MAX_ADDRESSES;
  const mayBeNamed = !isTooMany && addresses.every((address) => isOutside(address) || isWithin(address));
  const refused = addresses.find((address) => !isOutside(address) && !(mayBePrivate && isWithin(address)));
  if (isTooMany || refused !== undefined)
    return {
      status: 403,
      reason: mayBePrivate
        ? `the name ${host} leads to this machine, or to an address that is neither on the Internet nor of a private network`
        : `the name ${host} leads to an address that is not on the Internet`,
      ...(mayBeNamed && { isPrivate: true }),
      ...(refused !== undefined && { address: refused }),
    };
  for (const address of addresses.slice(0, MAX_ATTEMPTS)) {
    const attempt = new AbortController();
    const both = AbortSignal.any([signal, attempt.signal]);
    const dialling = reach.dial(address, port, both);
    const socket = await within(DIAL_MS, clock, signal, () => dialling).catch(() => undefined);
    if (socket) return { socket, address, ...(!isOutside(address) && { isPrivate: true }) };
    attempt.abort();
    dialling.then((late) => late.destroy()).catch(() => {}); // it has been given up
    if (signal.aborted) break;
  }
  return { status: 502, reason: `${host} does not answer on port ${port}` };
}

async function reachByProxy(
  upstream: UpstreamProxy,
  destination: Destination,
  { dialName = dialNamed }: Reach,
  clock: Clock,
  signal: AbortSignal,
): Promise<Reached | Refusal> {
  const attempt = new AbortController();
  const dialling = dialByProxy(upstream, destination, dialName, AbortSignal.any([signal, attempt.signal]));
  const proxy = `${upstream.host}:${upstream.port}`;
  try {
    const reached = await within(DIAL_MS, clock, signal, () => dialling);
    return 'socket' in reached ? { ...reached, proxy } : reached;
  } catch {
    attempt.abort();
    dialling.then((late) => 'socket' in late && late.socket.destroy()).catch(() => {}); // it has been given up
    return { status: 502, reason: `the proxy that this machine uses (${proxy}) does not answer` };
  }
}

/** Why there is no connection. */
export interface Unreached extends Refusal {
  /** It would be one of a private network. */
  readonly isPrivate?: true;
  /** For which it was refused. */
  readonly address?: string;
}

/** A connection, and where it leads. */
export interface Reached {
  readonly socket: Duplex;
  readonly address: string;
  /** It is none of the Internet's. */
  readonly isPrivate?: true;
  /** `HOST:PORT` of the person's proxy, whose address it is then. */
  readonly proxy?: string;
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

const dialNamed = (host: string, port: number, signal: AbortSignal) => dial(host, port, signal, true);

/** @param autoSelectFamily whether all addresses of a name are tried: of a literal there is one */
function dial(host: string, port: number, signal: AbortSignal, autoSelectFamily = false): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, autoSelectFamily });
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
