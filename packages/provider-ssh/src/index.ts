export type { ClientHome } from './client-config.ts';
export { type Destination, parseDestination, showDestination } from './destination.ts';
export type { AskHostKey, HostKey } from './host-key.ts';
export { openSshHost, type SshHost, type SshHostOptions } from './open-ssh-host.ts';
export { ssh, type SshOptions, stateDirectory } from './ssh.ts';
