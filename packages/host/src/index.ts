export { type LocalHostOptions, localHost } from './local-host.ts';
