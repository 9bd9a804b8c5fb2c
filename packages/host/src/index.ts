export { type LocalHostOptions, localHost } from './local-host.ts';
export { localForwarder } from './local-forwarder.ts';
export { localKeepers, type LocalKeepersOptions } from './local-keepers.ts';
