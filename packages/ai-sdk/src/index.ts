export { type EveSandboxOptions, type EveSandboxState, eveSandbox } from './eve-sandbox.ts';
export type { EveHandle, EveImplementation, EveResourceTree, EveSandboxSession } from './eve-types.ts';
export { type HarnessSandboxOptions, harnessSandbox } from './harness-sandbox.ts';
export { sandboxSession } from './sandbox-session.ts';
