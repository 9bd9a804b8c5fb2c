export { HostRegistry, type SavedHost } from './host-registry.ts';
export { isMachineName } from './is-machine-name.ts';
export { LateMachines } from './late-machines.ts';
export { openMachine } from './open-machine.ts';
export { openSavedHost, type ReachedHost, type ReachOptions } from './open-saved-host.ts';
export { PROVIDERS } from './providers.ts';
export { providersFor } from './providers-for.ts';
export { userHosts } from './user-hosts.ts';
