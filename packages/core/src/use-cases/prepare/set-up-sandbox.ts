import { advice, step } from '../../domain/errors/next-step.ts';
import { type Command, commandText } from '../../domain/processes/command.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { Asker, CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { setupEndpoints } from '../../services/endpoint-variables.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import { type OpenNetwork, tellRefusals } from '../network/open-network.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import { type NamedCommand, runSetupCommands, setupFailed } from './run-setup-commands.ts';
import { assertGit, throwawayRepository } from './throwaway-repository.ts';

export interface SetUp {
  readonly record: SandboxRecord;
  /** The history took nothing of what the setup left, no rule of what is ignored either. */
  readonly isSilent: boolean;
}

interface Needs {
  readonly state: Pick<StateStore, 'update'>;
  readonly recordRevision: RecordRevision;
  readonly openNetwork: OpenNetwork;
  readonly openEndpoints: OpenEndpoints;
  readonly openRepository: OpenRepository;
  readonly asker: Asker;
}

/** Runs the setup commands in a sandbox that was just made; what they change of tracked files is a revision. */
export class SetUpSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Sets up, and makes the sandbox ready.
   *
   * @param isRollback whether the caller removes the sandbox when this fails: the hint says so
   * @returns the record, in the state `ready`
   * @throws LitterboxError `SETUP_FAILED`; the record is in the state `setup-failed` then. `TOOL_MISSING`
   */
  async setUp(
    record: SandboxRecord,
    opened: OpenedSandbox,
    isRollback: boolean,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    return await this.markReady((await this.run(record, opened, isRollback, options)).record);
  }

  /** As {@link setUp}, up to the revision: the sandbox is not ready yet. */
  async run(
    record: SandboxRecord,
    opened: OpenedSandbox,
    isRollback: boolean,
    options?: ProgressOptions,
  ): Promise<SetUp> {
    const commands = await this.#commandsOf(record, options);
    if (commands.length > 0) await this.#runAll(commands, record, opened, isRollback, options);
    const done =
      record.policy.setup.length > 0 ? await this.takeOver(record, opened, options) : { record, isSilent: false };
    failpoint('create.after-setup');
    return done;
  }

  async #commandsOf(
    { policy, baseCommit }: Pick<SandboxRecord, 'policy' | 'baseCommit'>,
    options?: CallOptions,
  ): Promise<readonly (Command | NamedCommand)[]> {
    if (policy.workspaceGit === 'none') return policy.setup;
    const repository = await this.#needs.openRepository.open(options);
    return [throwawayRepository(await repository.describe({ commit: baseCommit }, options)), ...policy.setup];
  }

  async #runAll(
    commands: readonly (Command | NamedCommand)[],
    record: SandboxRecord,
    opened: OpenedSandbox,
    isRollback: boolean,
    options?: ProgressOptions,
  ): Promise<void> {
    const isOpen = record.policy.network.setup !== 'none';
    await using network = isOpen
      ? await this.#needs.openNetwork.open(record, opened.runtime, {
          ...tellRefusals(options),
          isOfPerson: this.#needs.asker === 'person',
        })
      : undefined;
    const endpoints = setupEndpoints(record.policy);
    await using _endpoints =
      endpoints.length > 0
        ? await this.#needs.openEndpoints.open(
            { ...record, policy: { ...record.policy, endpoints } },
            opened.runtime,
            options,
          )
        : undefined;
    const failed = await runSetupCommands(commands, record, opened.channel, 'Setting up', network, options);
    if (!failed) return;
    assertGit(failed);
    await this.#needs.state.update(record, { state: 'setup-failed', setupLog: failed.log });
    const { slug } = record;
    const hint = isRollback
      ? 'Correct the setup (--setup, or container.setup-command) and create the sandbox again.'
      : advice`Look around: ${step('sandbox-shell', { sandbox: slug })}. Then ${step('sandbox-delete', { sandbox: slug })} and create it again.`;
    throw setupFailed('setup command', failed, record, hint, network);
  }

  /** Records as the setup's revision what a setup left, whoever ran it. */
  async takeOver(record: SandboxRecord, opened: OpenedSandbox, options?: CallOptions): Promise<SetUp> {
    const message = revisionMessage({
      tool: 'setup',
      subject: record.policy.setup.map(commandText).join(' && '),
      sandbox: record.slug,
    });
    const { record: recorded, result } = await this.#needs.recordRevision.record(record, opened, message, options);
    return { record: recorded, isSilent: !result.revision && !result.ignoreRulesChanged };
  }

  /** Begins with what a setup left that was silent: it is known by its key that nothing is to be recorded. */
  async skip(record: SandboxRecord, opened: OpenedSandbox, options?: CallOptions): Promise<SandboxRecord> {
    return await this.#needs.state.update(record, { mark: await opened.runtime.mark(options) });
  }

  async markReady(record: SandboxRecord): Promise<SandboxRecord> {
    return await this.#needs.state.update(record, { state: 'ready' });
  }
}
