import { shellArguments } from '../../channel/command-shell.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { workspacePath } from '../../domain/paths/workspace-path.ts';
import { type Command, commandSubject } from '../../domain/processes/command.ts';
import type { ServicePolicy } from '../../domain/sandbox/policy.ts';
import { withoutSecretWords } from '../../domain/secrets/without-secrets.ts';
import { encodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Keepers } from '../../ports/network/keepers.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { ServiceStatus } from '../../services/kept-service.ts';
import { audited } from '../common/audited.ts';
import { changeRecord } from '../common/change-record.ts';
import type { HoldSecrets } from '../common/hold-secrets.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import { assertUsable } from '../session/open-sandboxes.ts';
import { assertVariables } from './assert-variables.ts';
import { checkedCommand } from './checked-command.ts';

/** A command that goes on when the program that asked for it has ended. */
export interface KeepInput {
  readonly sandbox: string;
  readonly command: Command;
  /** A name to find it by: lower-case letters, digits and dashes, a letter first. @defaultValue the first free of command-1, command-2 … */
  readonly name?: string | undefined;
  /** Absolute inside, or relative to the workspace. @defaultValue the workspace */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** A sandbox keeps so many; the oldest that has ended gives way. */
const MAX_KEPT = 16;
const STOP_MS = 10_000;
const OVER: ReadonlySet<string> = new Set(['exited', 'failed', 'stopped']);
const ENTER = 'cd -- "$1" || exit 127; shift; exec "$@"';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly holdSecrets: HoldSecrets;
  readonly reachKeeper: ReachKeeper;
  readonly keepers: Keepers;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly actor: string;
}

/**
 * Starts a command that the keeper of the sandbox looks after: it lives until it ends by itself, is stopped, or the sandbox is. It is
 * listed, stopped and heard as a service is, and is never started a second time. Later calls record what it changes.
 */
export class KeepCommand {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `UNSUPPORTED` where no program can keep it, `ALREADY_EXISTS`, `RESOURCE_EXHAUSTED`, `INVALID_ARGUMENT` */
  async keep({ sandbox, command, name, cwd, env = {} }: KeepInput, options?: CallOptions): Promise<ServiceStatus> {
    if (!this.#needs.keepers.launch) throw nobodyKeeps();
    checkedCommand(command);
    assertVariables('sandbox.keep', env);
    if (name !== undefined && !NAME.test(name)) throw noName(name);
    const found = await this.#needs.findSandbox.find(sandbox, options);
    assertUsable(found);
    const argv = typeof command === 'string' ? shellArguments(command) : command;
    const at = workspacePath(found.workdir, cwd ?? '.');
    const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
    const started = ['env', ...variables, 'sh', '-c', ENTER, 'sh', at, ...argv] as const;
    const secret = (await this.#needs.holdSecrets.read(found, options)).nameIn(encodeRaw(started.join('\0')));
    if (secret !== undefined) throw namesSecret(secret);
    const entry = {
      operation: 'sandbox-keep',
      actor: this.#needs.actor,
      repositoryId: found.repositoryId,
      sandbox: found.id,
      input: { command: withoutSecretWords(commandSubject(command).slice(0, 4096)) },
    };
    return await audited(this.#needs.audit, entry, async () => {
      const ended = await this.#ended(found, options);
      let kept = '';
      const record = await changeRecord(this.#needs.state, found, ({ policy }) => {
        const services = roomFor(policy.services ?? [], ended);
        kept = freeName(services, name);
        return { policy: { ...policy, services: [...services, once(kept, started)] } };
      });
      const request = { verb: 'start' as const, service: kept };
      const { services } = await this.#needs.reachKeeper.status(record, request, options);
      const status = services.find((one) => one.name === kept);
      if (status) return status;
      throw new LitterboxError('UNAVAILABLE', `The command ${kept} was not started.`, { operation: 'sandbox.keep' });
    });
  }

  /** Names of those that have ended. */
  async #ended(record: SandboxRecord, options?: CallOptions): Promise<ReadonlySet<string>> {
    if (!(record.policy.services ?? []).some(({ isOnce }) => isOnce)) return new Set();
    const { services } = await this.#needs.reachKeeper.status(record, { verb: 'status' }, options);
    return new Set(services.filter(({ state }) => OVER.has(state)).map(({ name }) => name));
  }
}

const once = (name: string, command: readonly [string, ...string[]]): ServicePolicy => ({
  name,
  command,
  signals: { stop: 'SIGTERM' },
  restart: 'never',
  after: [],
  stopTimeoutMs: STOP_MS,
  isOnce: true,
});

/** @throws LitterboxError `RESOURCE_EXHAUSTED` */
function roomFor(services: readonly ServicePolicy[], ended: ReadonlySet<string>): readonly ServicePolicy[] {
  if (services.filter(({ isOnce }) => isOnce).length < MAX_KEPT) return services;
  const over = services.find(({ name, isOnce }) => isOnce && ended.has(name));
  if (over) return services.filter((one) => one !== over);
  throw new LitterboxError('RESOURCE_EXHAUSTED', `${MAX_KEPT} commands are kept in the sandbox already.`, {
    operation: 'sandbox.keep',
    hint: 'Stop one of them first.',
  });
}

/** @throws LitterboxError `ALREADY_EXISTS` */
function freeName(services: readonly ServicePolicy[], wanted: string | undefined): string {
  const taken = new Set(services.map(({ name }) => name));
  if (wanted !== undefined && taken.has(wanted))
    throw new LitterboxError('ALREADY_EXISTS', `The sandbox has a service ${shown(wanted)} already.`, {
      operation: 'sandbox.keep',
      hint: 'Choose another name.',
    });
  if (wanted !== undefined) return wanted;
  for (let number = 1; ; number++) if (!taken.has(`command-${number}`)) return `command-${number}`;
}

const namesSecret = (secret: string) =>
  new LitterboxError('UNSUPPORTED', `The command holds the secret ${secret}, and the state keeps the command.`, {
    operation: 'sandbox.keep',
    hint: 'Have the program read it from a file in the sandbox that git ignores.',
  });

const noName = (name: string) =>
  new LitterboxError('INVALID_ARGUMENT', `name: got ${shown(name)}.`, {
    operation: 'sandbox.keep',
    hint: 'Take up to 32 lower-case letters, digits and dashes, a letter first.',
  });

const nobodyKeeps = () =>
  new LitterboxError('UNSUPPORTED', 'keep: no program is here that could keep the command when this one ends.', {
    operation: 'sandbox.keep',
    hint: 'Give launchKeeper when the Litterbox is opened.',
  });
