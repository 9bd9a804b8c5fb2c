export { type FarHost, type FarHostOptions, openFarHost } from './far-host.ts';
export { FAR_PATIENCE, type FarPatience } from './far-patience.ts';
export type { FarTransport } from './far-transport.ts';
