export { listNow } from './list-now.ts';
export { type LocalHostOptions, localHost } from './local-host.ts';
export { hostSecrets } from './host-secrets.ts';
export { machineGauge } from './machine-gauge.ts';
export { repositoryTop } from './repository-top.ts';
export { localHeap } from './local-heap.ts';
export { localForwarder } from './local-forwarder.ts';
export { localKeepers, type LocalKeepersOptions } from './local-keepers.ts';
