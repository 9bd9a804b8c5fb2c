import {
  type CallOptions,
  controlService,
  LitterboxError,
  readServiceLogs,
  type ServiceOutput,
  type ServiceStatus,
  shown,
} from '@litterbox/core';
import type { LogsInput } from '../operation-options.ts';
import type { PerformIn } from './perform-in.ts';

/** How a command is started that goes on when this program has ended. */
export interface KeepOptions extends CallOptions {
  /** It goes on when this program has ended, until it ends by itself, is stopped, or the sandbox is stopped or deleted. */
  readonly keep: true;
  /** A name to find it by: up to 32 lower-case letters, digits and dashes, a letter first. @defaultValue the first free of command-1, command-2 … */
  readonly name?: string;
  /** Absolute inside, or relative to the workspace. @defaultValue the workspace */
  readonly cwd?: string;
  /** Variables for this command. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A command that a program left running, found by its name from any program. */
export class KeptCommand {
  /** In its sandbox no service has the same. */
  readonly name: string;
  readonly #perform: PerformIn;

  /** @internal */
  constructor(name: string, perform: PerformIn) {
    this.name = name;
    this.#perform = perform;
  }

  /** Whether it runs, and how it ended. @throws LitterboxError `SERVICE_NOT_FOUND` */
  async status(options?: CallOptions): Promise<ServiceStatus> {
    const [status] = await this.#perform(controlService, { action: 'status', service: this.name }, options);
    if (status) return status;
    throw new LitterboxError('SERVICE_NOT_FOUND', `There is no command ${shown(this.name)} any more.`, {
      operation: 'sandbox.keep',
      hint: 'It was left behind when the sandbox was stopped or recovered.',
    });
  }

  /** Its output: the end of it, and with `isFollowing` what comes. Hostile text. */
  async *logs({ signal, ...request }: CallOptions & Omit<LogsInput, 'service'> = {}): AsyncGenerator<ServiceOutput> {
    yield* await this.#perform(readServiceLogs, { ...request, service: this.name }, { signal });
  }

  /** Ends it: SIGTERM, after ten seconds SIGKILL. What it changed is recorded. */
  async stop(options?: CallOptions): Promise<ServiceStatus> {
    await this.#perform(controlService, { action: 'stop', service: this.name }, options);
    return await this.status(options);
  }
}
