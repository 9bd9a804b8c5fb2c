import { fixtureWorkspace } from '@litterbox/conformance';
import { type SandboxId, type SandboxSpec } from '@litterbox/core/provider';

/** What tests of this provider ask for, where a test does not ask for something else: an empty workspace at /src, and no limits but the usual. */
export function sandboxSpec(id: SandboxId, more: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    id,
    slug: 'test',
    repositoryId: '00000000-0000-4000-8000-000000000000',
    workspace: fixtureWorkspace('e3e3e3e3', []),
    workdir: '/src',
    root: { type: 'machine' },
    environment: {},
    limits: {},
    network: 'none',
    playground: id,
    allowDegraded: false,
    ...more,
  };
}
