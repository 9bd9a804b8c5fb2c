import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { ServiceStatus } from '../../services/kept-service.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { InspectSandbox } from './inspect-sandbox.ts';
import type { PortStatus, ServiceOutput } from '../keeper/keeper-status.ts';
import { assertUsable } from '../session/open-sandboxes.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';

/** One service of a sandbox, or all. */
export interface ServiceRequest {
  readonly sandbox: string;
  /** Absent: all of them, in their order. */
  readonly service?: string | undefined;
}

/** The wanted state of a service, and how long to wait for it, in milliseconds. */
export interface ServiceChange extends ServiceRequest {
  readonly action: 'start' | 'stop' | 'restart';
  readonly message?: string | undefined;
  readonly waitMs?: number | undefined;
}

/** Which output of services is wanted, and whether to wait for more. */
export interface LogRequest extends ServiceRequest {
  readonly isFollowing?: boolean | undefined;
  readonly tailBytes?: number | undefined;
}

interface Needs {
  readonly changeWorkspace: ChangeWorkspace;
  readonly inspectSandbox: InspectSandbox;
  readonly findSandbox: FindSandbox;
  readonly reachKeeper: ReachKeeper;
}

/** Starts, stops and shows the services of a sandbox, and its ports. */
export class ControlServices {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * A service may change files: what it did until it was up, or down, is recorded as what a command does is.
   *
   * @throws LitterboxError `SERVICE_NOT_FOUND`; `SERVICE_FAILED` when one that was to start is not up, with the end of its log.
   */
  async change(
    { sandbox, service, action, message, waitMs }: ServiceChange,
    options?: CallOptions,
  ): Promise<{ readonly services: readonly ServiceStatus[]; readonly recorded: RevisionResult }> {
    const subject = `${action}${service === undefined ? '' : ` ${service}`}`;
    const { outcome, recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-service',
        trigger: { tool: 'service', subject, detail: subject, message },
        input: { action, service },
        waitMs,
        check: (record) => assertService(record, service),
        act: async (_opened, record) => {
          const request = { verb: action, ...(service !== undefined && { service }) };
          const { services } = await this.#needs.reachKeeper.status(record, request, options);
          const kept = new Set((record.policy.services ?? []).filter(({ isOnce }) => isOnce).map(({ name }) => name));
          const asked = services.filter(({ name }) => (service === undefined ? !kept.has(name) : name === service));
          const broken = action === 'stop' ? undefined : asked.find((one) => !isUp(one));
          return { record, asked, broken, log: broken && (await this.#tail(record, broken.name, options)) };
        },
        summary: ({ asked }) => ({ services: Object.fromEntries(asked.map(({ name, state }) => [name, state])) }),
        settled({ broken, log, record }) {
          if (broken) throw serviceFailed(record, broken, log ?? '');
        },
      },
      options,
    );
    return { services: outcome.asked, recorded };
  }

  async status({ sandbox, service }: ServiceRequest, options?: CallOptions): Promise<readonly ServiceStatus[]> {
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-service',
        input: { action: 'status', service },
        look: async (_opened, record) => {
          if (service === undefined && (record.policy.services ?? []).length === 0) return [];
          assertService(record, service);
          const { services } = await this.#needs.reachKeeper.status(record, { verb: 'status' }, options);
          return services.filter(({ name }) => service === undefined || name === service);
        },
      },
      options,
    );
  }

  /** Output of services: hostile bytes, as text of `raw-text.ts`. */
  async *logs(
    { sandbox, service, isFollowing, tailBytes }: LogRequest,
    options?: CallOptions,
  ): AsyncGenerator<ServiceOutput> {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    assertUsable(record);
    assertService(record, service);
    const request = {
      verb: 'logs' as const,
      ...(service !== undefined && { service }),
      ...(isFollowing !== undefined && { isFollowing }),
      ...(tailBytes !== undefined && { tailBytes }),
    };
    for await (const value of this.#needs.reachKeeper.values(record, request, options)) yield value as ServiceOutput;
  }

  async ports(sandbox: string, options?: CallOptions): Promise<readonly PortStatus[]> {
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-ports',
        input: {},
        look: async (_opened, record) =>
          (record.policy.ports ?? []).length === 0
            ? []
            : (await this.#needs.reachKeeper.status(record, { verb: 'ports' }, options)).ports,
      },
      options,
    );
  }

  async #tail(record: SandboxRecord, service: string, options?: CallOptions): Promise<string> {
    let text = '';
    const request = { verb: 'logs' as const, service, tailBytes: 2_000 };
    for await (const value of this.#needs.reachKeeper.values(record, request, options))
      text += (value as ServiceOutput).text;
    return text;
  }
}

/** Whether a service does what it is there for: it runs, or was there to run once. */
export function isUp({ state }: ServiceStatus): boolean {
  return state === 'running' || state === 'exited';
}

function assertService({ policy, slug }: SandboxRecord, service: string | undefined): void {
  const names = (policy.services ?? []).map(({ name }) => name);
  if (service === undefined ? names.length > 0 : names.includes(service)) return;
  throw new LitterboxError(
    'SERVICE_NOT_FOUND',
    service === undefined
      ? `The sandbox ${slug} has no services.`
      : `There is no service ${shown(service)} in the sandbox ${slug}.`,
    {
      operation: 'sandbox.service',
      hint:
        names.length > 0
          ? `It has: ${names.join(', ')}.`
          : 'Services come from [container.services] of .litterbox.toml when a sandbox is created.',
    },
  );
}

function serviceFailed(
  { slug }: SandboxRecord,
  { name, state, note, exit }: ServiceStatus,
  log: string,
): LitterboxError {
  const how =
    exit === undefined
      ? (note ?? `is ${state}`)
      : `ended with ${exit.signal ?? `exit code ${exit.code}`} and is ${state}`;
  const lines = log.trimEnd().split('\n').slice(-8).join('\n');
  return new LitterboxError(
    'SERVICE_FAILED',
    `The service ${name} is not up: ${how}${lines === '' ? '' : `\n${lines}`}`,
    {
      operation: 'sandbox.service',
      hint: advice`See all that it printed: ${step('sandbox-logs', { sandbox: slug, service: name })}.`,
      facts: { service: name, state, log },
    },
  );
}
