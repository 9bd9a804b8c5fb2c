import type { EndpointPolicy } from '../secrets/endpoint-policy.ts';
import type { ExposedSecret } from '../secrets/exposed-secret.ts';
import type { Command } from '../processes/command.ts';
import type { ResourceLimits } from './resource-limits.ts';
import type { SandboxRoot } from './sandbox-root.ts';

/** A named port inside. */
export interface PortPolicy {
  readonly name: string;
  /** 1 to 65535. */
  readonly inside: number;
}

/** A program that runs beside the agent. */
export interface ServicePolicy {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly signals: { readonly stop: string; readonly restart?: string };
  readonly restart: 'always' | 'on-failure' | 'never';
  readonly health?: { readonly port: number } | { readonly command: readonly [string, ...string[]] };
  /** Names of services before it in the list. */
  readonly after: readonly string[];
  readonly stopTimeoutMs: number;
  /** A program asked for this one run of it, and nothing starts it again. Absent: a service of the configuration. */
  readonly isOnce?: true;
}

/** Supervisors that an image may have. */
export type SupervisorName = 'supervisord' | 's6' | 'runit';

/** What programs inside may reach: while the setup runs, and after it. */
export interface NetworkPolicy {
  readonly setup: NetworkMode;
  readonly run: NetworkMode;
  /** Rules in their normal form: `host.example.org`, `*.example.org`, `host.example.org:8443`. Absent: none, in a record of an earlier release. */
  readonly allow?: readonly string[];
  /** Wins over `allow`. */
  readonly deny?: readonly string[];
  /** Rules without a star of hosts that may be reached although their names lead to addresses of a private network. Absent: none. */
  readonly allowPrivate?: readonly string[];
  /**
   * From where the connections of a sandbox on another machine are made: `there`, from its machine, or `here`, from the one that Litterbox
   * runs on. Absent: there.
   */
  readonly from?: NetworkOrigin;
  /** The configuration opens the network for the setup, and no person made the base: `setup` is `none` for that reason. */
  readonly isWithheld?: boolean;
}

/** See {@link NetworkPolicy.from}. */
export type NetworkOrigin = 'there' | 'here';

/** `allow-list`: through a proxy outside, what the rules allow. */
export type NetworkMode = 'none' | 'allow-list';

/** What a sandbox is allowed and how it is set up, decided from the configuration once, at create, and kept with it. */
export interface Policy {
  readonly root: SandboxRoot;
  readonly limits: ResourceLimits;
  /** Validated, no reserved names. */
  readonly environment: Readonly<Record<string, string>>;
  /** In the order in which they start. Absent: none, in a record of an earlier release. */
  readonly services?: readonly ServicePolicy[];
  /** What of the image looks after the services. Absent: we do. */
  readonly supervisor?: SupervisorName;
  readonly ports?: readonly PortPolicy[];
  /** Servers that commands reach with secrets that are set outside. Absent: none. */
  readonly endpoints?: readonly EndpointPolicy[];
  /** Secrets that commands hold themselves. Absent: none. */
  readonly exposed?: readonly ExposedSecret[];
  /** Commands run once for an image, as root, before sandboxes are made of it. Absent: none. */
  readonly install?: readonly Command[];
  /** Commands run once at create, in order. */
  readonly setup: readonly Command[];
  readonly setupTimeoutMs: number;
  /** Default for commands without a timeout of their own. */
  readonly timeoutMs: number;
  readonly network: NetworkPolicy;
  readonly playgroundScope: 'sandbox' | 'shared';
  readonly workspaceGit: 'none' | 'throwaway';
  /** `eager` refreshes `.litterbox/worktrees/<slug>` at each create and milestone of a person. */
  readonly worktrees: 'on-demand' | 'eager';
  readonly requireMessage: boolean;
  readonly allowDegraded: boolean;
  /**
   * Files and directories of the person's working tree that come along, as `includedPath` has them: not recorded, and in no diff. Absent: none.
   */
  readonly include?: readonly string[];
  /** How the provider is to make the workspace, in its own word. */
  readonly strategy?: string;
  /** The workspace is an overlay over the person's working tree itself. Absent: over a frozen tree of the base. */
  readonly lower?: 'live';
}
