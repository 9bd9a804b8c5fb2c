/** Where programs inside find the proxy, on loopback; what proxies listen on since Squid. */
export const GATE_PORT = 3128;
