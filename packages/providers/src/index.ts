export { HostBook, type KeptHost } from './host-book.ts';
export { openKeptHost, type ReachedHost, type ReachOptions } from './open-kept-host.ts';
export { PROVIDERS } from './providers.ts';
export { userHosts } from './user-hosts.ts';
