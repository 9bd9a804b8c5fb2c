import { quoted } from '@litterbox/core/provider';

/** What Linux keeps for root, of ports of TCP and UDP, begins below this number in the network namespace of who reads it. */
const FIRST_FREE_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start';

/**
 * Shell text: programs in the network namespace of a process may listen on every port. It is the sandbox's own, and nobody else's port is in
 * there. Fails for who has no rights over that namespace.
 *
 * @param one shell text of the number of the process, in the numbers of /proc
 */
export const openLowPorts = (one: string): string =>
  `nsenter --net="/proc/${one}/ns/net" sh -c ${quoted(`echo 0 >${FIRST_FREE_PORT}`)}`;
