import type { ResourceLimits, SandboxRoot } from '../ports/sandbox-provider.ts';

/** What a sandbox is allowed and how it is set up, decided from the configuration once, at create, and kept with it. */
export interface Policy {
  readonly root: SandboxRoot;
  readonly limits: ResourceLimits;
  /** Validated, no reserved names. */
  readonly environment: Readonly<Record<string, string>>;
  /** Commands run once at create, in order, each an argument list. */
  readonly setup: readonly (readonly [string, ...string[]])[];
  readonly setupTimeoutMs: number;
  /** Default for commands without a timeout of their own. */
  readonly timeoutMs: number;
  readonly network: { readonly setup: 'none'; readonly run: 'none' };
  readonly playgroundScope: 'sandbox' | 'shared';
  readonly workspaceGit: 'none' | 'throwaway';
  /** `eager` refreshes `.litterbox/worktrees/<slug>` at create and at each milestone. */
  readonly worktrees: 'on-demand' | 'eager';
  readonly requireMessage: boolean;
  readonly allowDegraded: boolean;
  /** How the provider is to make the workspace, in its own word. */
  readonly strategy?: string;
}
