import { SUBVOLUME_REQUESTS } from './subvolume-requests.ts';

/** Unix sockets, of which a sandbox has none or those of its own alone. */
export const AF_UNIX = 1;

const INTERNET = [0, 1, 6, 17, 58];

/**
 * The families of sockets that programs need on a machine whose only interface is loopback, and of each the protocols: of the internet
 * the default, ICMP, TCP, UDP and ICMPv6; of netlink routes and the list of sockets. Whatever else the kernel has is for those who
 * administer it, or is loaded as a module when a program asks.
 *
 * @see include/uapi/linux/in.h and include/uapi/linux/netlink.h
 */
export const SOCKET_PROTOCOLS: readonly { readonly family: number; readonly protocols: readonly number[] }[] = [
  { family: 2, protocols: INTERNET },
  { family: 10, protocols: INTERNET },
  { family: 16, protocols: [0, 4] },
];

/**
 * Requests of `ioctl` that are refused: TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads a line discipline, and
 * those that make and change subvolumes.
 *
 * @see include/uapi/asm-generic/ioctls.h
 */
export const REFUSED_REQUESTS: readonly number[] = [0x5412, 0x541c, 0x5423, ...SUBVOLUME_REQUESTS];
