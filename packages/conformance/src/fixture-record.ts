import {
  ObjectId,
  type Placement,
  type Policy,
  RepositoryId,
  SandboxId,
  type SandboxRecord,
  slugify,
} from '@litterbox/core/provider';

const POLICY: Policy = {
  root: { type: 'directory', path: '/srv/root' },
  limits: { memoryBytes: 2 ** 30, cpus: 0.5 },
  environment: { A: 'b' },
  setup: [['npm', 'ci']],
  setupTimeoutMs: 600_000,
  timeoutMs: 120_000,
  network: { setup: 'none', run: 'none' },
  playgroundScope: 'sandbox',
  workspaceGit: 'none',
  worktrees: 'on-demand',
  requireMessage: false,
  allowDegraded: false,
};

const PLACEMENT: Placement = {
  memoryBytes: 2 ** 30,
  isAsked: true,
  hosts: [
    {
      host: 'build-box',
      verdict: 'chosen',
      load: { memoryBytes: 2 ** 34, availableBytes: 2 ** 33, processors: 8, load: 0.25, roundTripMs: 12.5 },
      promisedBytes: 0,
    },
    { host: 'vm:default', verdict: 'silent', reason: 'it is down' },
  ],
};

/** A record that no store has yet, with a new id in a new repository unless the change says otherwise. */
export function fixtureRecord(change: Partial<SandboxRecord> = {}): Omit<SandboxRecord, 'generation'> {
  const { generation: _, ...record } = {
    id: SandboxId.make(),
    repositoryId: RepositoryId.make(),
    repositoryRoot: '/home/someone/project',
    slug: slugify('fix login').slug,
    provider: 'overlayfs@build-box',
    placement: PLACEMENT,
    state: 'creating' as const,
    baseCommit: ObjectId.parse('a'.repeat(40)),
    baseTree: ObjectId.parse('b'.repeat(40)),
    workdir: '/home/someone/project',
    policy: POLICY,
    createdAtMs: 1_700_000_000_000,
    updatedAtMs: 1_700_000_000_000,
    generation: 0,
    ...change,
  };
  return record;
}
