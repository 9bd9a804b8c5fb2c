export { type FarHost, type FarHostOptions, openFarHost } from './far-host.ts';
export { FAR_PATIENCE, type ConnectionTimeouts } from './connection-timeouts.ts';
export type { ShellTransport } from './shell-transport.ts';
