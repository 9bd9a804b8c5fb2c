import { quoted } from '@litterbox/core/provider';

/** What Linux keeps for root, of ports of TCP and UDP, begins below this number in the network namespace of who reads it. */
const FIRST_FREE_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start';

/**
 * Shell text: programs in the network namespace of a process may listen on every port. It is the sandbox's own, and nobody else's port is in
 * there; where it is not, which is found out later, nothing is changed. Fails for who has no rights over that namespace.
 *
 * @param one shell text of the number of the process, in the numbers of /proc
 */
export function openLowPorts(one: string): string {
  const network = `"/proc/${one}/ns/net"`;
  return `{ [ ${network} -ef /proc/self/ns/net ] || nsenter --net=${network} sh -c ${quoted(`echo 0 >${FIRST_FREE_PORT}`)}; }`;
}
