export { type Collected, collected } from './collected.ts';
export { describeHost, type HostOptions } from './describe-host.ts';
export { describeSandboxProvider } from './describe-sandbox-provider.ts';
export { describeSourceControl, type SourceControlOptions } from './describe-source-control.ts';
export { eventually } from './eventually.ts';
export { brokenWorkspace, type FixtureFile, fixtureWorkspace } from './fixture-workspace.ts';
export { forBackend } from './for-backend.ts';
export type { SkippableRunner, TestRunner } from './runner.ts';
export type { SandboxProviderOptions } from './sandbox-provider/suite.ts';
