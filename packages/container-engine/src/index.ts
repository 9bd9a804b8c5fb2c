export type { ContainerProviderInput } from './container-parts.ts';
export type { EngineFacts } from './engine-facts.ts';
export type { EngineFlavour } from './engine-flavour.ts';
export type { Layout } from './layout.ts';
export { EngineProvider } from './foreign/engine-provider.ts';
export { seccompProfile } from './seccomp-profile.ts';
