export { HostBook, type KeptHost } from './host-book.ts';
export { isMachineName } from './is-machine-name.ts';
export { LateMachines } from './late-machines.ts';
export { openMachine } from './open-machine.ts';
export { openKeptHost, type ReachedHost, type ReachOptions } from './open-kept-host.ts';
export { PROVIDERS } from './providers.ts';
export { userHosts } from './user-hosts.ts';
