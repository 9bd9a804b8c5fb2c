import type { ExecChannel } from '../channel/exec-channel.ts';
import type { HeldSecrets } from '../channel/held-secrets.ts';
import type { ServicePolicy } from '../domain/sandbox/policy.ts';
import type { Clock } from '../ports/common/clock.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import type { ServiceLog } from './service-log.ts';

/**
 * `starting`: runs, its health is not known yet; `running`: runs, and is healthy where that is looked at; `unhealthy`: runs;
 * `waiting`: to be started again after it failed; `exited`: ended with 0; `failed`: ended otherwise, and stays so.
 */
export type ServiceState =
  | 'stopped'
  | 'starting'
  | 'running'
  | 'unhealthy'
  | 'waiting'
  | 'exited'
  | 'failed'
  | 'stopping';

/** What one service of a sandbox does now. */
export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  /** Of the present or the last run. */
  readonly sinceMs: number;
  /** Starts after the first that nobody asked for. */
  readonly restarts: number;
  /** How the last run ended. */
  readonly exit?: ExitStatus;
  /** What is odd about it, one sentence. */
  readonly note?: string;
}

/** What services are run with. */
export interface ServiceSetting {
  readonly runtime: SandboxRuntime;
  readonly channel: ExecChannel;
  /** Taken out of what services print. */
  readonly secrets: HeldSecrets;
  readonly clock: Clock;
  /** Ports and what else a service finds in its environment. */
  variables(): Readonly<Record<string, string>>;
  /** False while the sandbox is paused: nothing is looked at then, as nothing can answer. */
  isAwake(): Promise<boolean>;
}

/** One service of one sandbox, whoever looks after it. What it prints is kept here, bounded; nothing it does is trusted. */
export interface KeptService {
  readonly policy: ServicePolicy;
  readonly log: ServiceLog;
  status(): ServiceStatus;
  /** Resolves when it is up, or is known not to come up by itself at once. Nothing happens when it runs. */
  start(): Promise<void>;
  /** Signal, wait, SIGKILL, and whatever it left behind. */
  stop(): Promise<void>;
  /** By its restart signal where it has one and runs, else stop and start. */
  restart(): Promise<void>;
  /** Ends nothing inside: the sandbox itself is about to end. */
  release(): void;
}
