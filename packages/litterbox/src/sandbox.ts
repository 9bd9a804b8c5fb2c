import {
  isLitterboxError,
  LitterboxError,
  shown,
  stepForPrograms,
  worded,
  type Assurance,
  applyChanges,
  deleteSandbox,
  type FileChange,
  findSandbox,
  type IntegrateResult,
  mergeChanges,
  type OutputChunk,
  planIntegration,
  recoverSandbox,
  type RestoreResult,
  restoreRevision,
  type RunState,
  type RunStateResult,
  setRunState,
  type ShownPlan,
  blameFile,
  type AttachedProcess,
  type CallOptions,
  type CommandShell,
  describeSandbox,
  controlService,
  cutMilestone,
  decodeRaw,
  type FailedFork,
  type FileBlame,
  FindSandbox,
  FindShell,
  type ForkResult,
  ForwardPorts,
  forkSandbox,
  joinBytes,
  keepCommand,
  type Lease,
  listPorts,
  listSnapshots,
  type LogEntry,
  type Milestone,
  type OperationOptions,
  OpenSandboxes,
  openPort,
  openShell,
  parseInput,
  type PortStatus,
  portUrl,
  type PastCall,
  type ProgressOptions,
  type Proof,
  raceForks,
  type RaceInput,
  type RaceResult,
  type RevisionResult,
  type RunCommandResult,
  readCall,
  readDiff,
  readLog,
  readProof,
  readServiceLogs,
  readCompute,
  readUsage,
  type ComputeUse,
  type ShownUsage,
  removeSnapshot,
  restoreSnapshot,
  type RestoreSnapshotResult,
  runCommand,
  type SandboxRecord,
  type SandboxSnapshot,
  seatAgent,
  type ServiceOutput,
  type ServiceStatus,
  takeSnapshot,
  type TakeSnapshotResult,
  undoRevision,
  type UndoResult,
  type UseCases,
} from '@litterbox/core';
import { hearText, type TextListeners } from './sandbox/hear-text.ts';
import type { ApplyInput, AttachInput, LogsInput, MergeInput, PlanInput, RunInput } from './operation-options.ts';
import { type KeepOptions, KeptCommand } from './sandbox/kept-command.ts';
import type { PerformIn } from './sandbox/perform-in.ts';
import { type Content, readContent } from './sandbox/read-content.ts';
import { SandboxFiles } from './sandbox/sandbox-files.ts';
import { SpawnedProcess, type SpawnOptions } from './sandbox/spawned-process.ts';

/** What a command gave, with its output as text (bytes that are not UTF-8 as lone surrogates) and as bytes. */
export interface CommandResult {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** The signal that ended it. Absent when none did. */
  readonly signal?: string;
  /** What ran a command that was given as text. */
  readonly shell?: CommandShell;
  /** Its standard output as text. */
  readonly stdout: string;
  /** Its standard error as text. */
  readonly stderr: string;
  /** Its standard output as it came. */
  readonly stdoutBytes: Uint8Array;
  /** Its standard error as it came. */
  readonly stderrBytes: Uint8Array;
  /** Bytes left out of the middle of each stream because it was too long. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  /** Its time limit ended it. */
  readonly timedOut: boolean;
  /** From its start to its end, in milliseconds. */
  readonly durationMs: number;
  /** The revision that holds its changes, if it made any. */
  readonly recorded: RevisionResult;
  /** What limits of the sandbox had to do with how it ended, a sentence each; mostly empty. */
  readonly hints: readonly string[];
}

/** How a command runs in a sandbox. */
export interface RunOptions extends CallOptions, TextListeners, RunInput {
  /** Hears all output live. A promise holds the command back until it resolves; what it throws ends the command, and the call rejects with it. */
  readonly onOutput?: OperationOptions['onOutput'];
  /** All of its standard input, up to 64 MiB. Text is given as UTF-8. A stream is read to its end before the command starts. */
  readonly stdin?: Content;
}

/** How work is merged: `tip` and `acceptRisky` are a person's yes, `message` the subject of the commit. */
export interface MergeOptions extends MergeInput {
  /** Hears the plan before anything is asked or changed. */
  readonly onPlan?: OperationOptions['onPlan'];
}

/** How work is staged: `paths` takes parts, `tip` and `acceptRisky` are a person's yes. */
export interface ApplyOptions extends ApplyInput {
  /** Hears the plan before anything is asked or changed. */
  readonly onPlan?: OperationOptions['onPlan'];
}

/** How a sandbox is forked. */
export interface ForkInput extends ProgressOptions {
  /** A name for people, a slug. */
  readonly name?: string;
  /** Labels to find it by, up to 32, by their names. Its source's do not come along. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Delete it, with all its work, when its object or the Litterbox is disposed of. @defaultValue false */
  readonly ephemeral?: boolean;
  /** Begin with what a snapshot of the sandbox holds, by its label. @defaultValue what the sandbox holds now */
  readonly snapshot?: string;
}

/** A sandbox as an embedder holds it. Disposing closes what this program opened in it; the sandbox itself stays, unless it is ephemeral. */
export class Sandbox implements AsyncDisposable {
  /** Its files. */
  readonly files: SandboxFiles;
  readonly #useCases: UseCases;
  readonly #record: SandboxRecord;
  readonly #perform: PerformIn;
  #hold: Lease | undefined;
  readonly #ephemeral: Set<Sandbox>;

  /**
   * @param hold of an ephemeral one, which goes when this object is disposed of
   * @param ephemeral gets this object then, and its ephemeral forks
   */
  constructor(useCases: UseCases, record: SandboxRecord, hold?: Lease, ephemeral = new Set<Sandbox>()) {
    this.#hold = hold;
    this.#ephemeral = ephemeral;
    if (hold) ephemeral.add(this);
    this.#useCases = useCases;
    this.#record = record;
    this.#perform = async (operation, input, options) =>
      await operation.execute(useCases, parseInput(operation, { ...input, sandbox: record.slug }), options);
    this.files = new SandboxFiles(this.#perform);
  }

  /** Its name in the repository, a slug. */
  get name(): string {
    return this.#record.slug;
  }

  /** Its name for good: no other sandbox ever has it. */
  get id(): string {
    return this.#record.id;
  }

  /** As it was when this object was made. */
  get record(): SandboxRecord {
    return this.#record;
  }

  /**
   * Runs a shell command (a string) or a program with verbatim arguments (an array) to its end, and records what it changed.
   * A non-zero exit and a timeout are results, not errors.
   */
  async run(command: string | readonly [string, ...string[]], options: RunOptions = {}): Promise<CommandResult> {
    const { signal, onOutput, onStdout, onStderr, stdin, ...input } = options;
    const text = hearText({ ...(onStdout && { onStdout }), ...(onStderr && { onStderr }) });
    const hear = async (chunk: OutputChunk) => {
      await onOutput?.(chunk);
      await text.hear(chunk);
    };
    const content = stdin && (await readContent(stdin, signal));
    const given = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const ran = await this.#perform(
      runCommand,
      { ...input, ...(given && { stdin: given }), command },
      { signal, ...((onOutput ?? onStdout ?? onStderr) && { onOutput: hear }) },
    );
    await text.end();
    return resultOf(ran);
  }

  /**
   * Starts a shell command (a string) or a program with verbatim arguments (an array) and gives it while it runs, with web streams. It
   * takes no turn, and is recorded as a {@link run} is when it has ended.
   */
  async spawn(command: string | readonly [string, ...string[]], options?: SpawnOptions): Promise<SpawnedProcess>;
  /**
   * The same without streams, for a command that goes on when this program has ended: {@link kept} finds it again.
   *
   * @throws LitterboxError `UNSUPPORTED` where the Litterbox has no `launchKeeper`
   */
  async spawn(command: string | readonly [string, ...string[]], options: KeepOptions): Promise<KeptCommand>;
  async spawn(
    command: string | readonly [string, ...string[]],
    options: SpawnOptions | KeepOptions = {},
  ): Promise<SpawnedProcess | KeptCommand> {
    if ('keep' in options) {
      const { signal: ends, keep, ...rest } = options;
      if (keep)
        return new KeptCommand(
          (await this.#perform(keepCommand, { ...rest, command }, { signal: ends })).name,
          this.#perform,
        );
    }
    const { signal, stdin = 'pipe', ...input } = options as SpawnOptions;
    if (stdin !== 'pipe' && stdin !== 'none')
      throw new LitterboxError('ARG_RANGE', `stdin: got ${shown(String(stdin))}, want one of pipe, none.`, {
        operation: 'sandbox.spawn',
        hint: 'Write to the stream stdin of what spawn gives.',
      });
    const attached = await this.#perform(
      openShell,
      { ...input, command, noInput: stdin === 'none', tool: 'run' },
      { signal },
    );
    return new SpawnedProcess(attached, signal ?? undefined);
  }

  /** A command that a program left running here, by its name; `services` lists them too. */
  kept(name: string): KeptCommand {
    return new KeptCommand(name, this.#perform);
  }

  /** Starts a process with a terminal, or to be handled piece by piece: the caller splits its output and finishes it. See {@link spawn}. */
  async attach(input: AttachInput = {}, options?: CallOptions): Promise<AttachedProcess> {
    return await this.#perform(openShell, { ...input }, options);
  }

  /** Everything that differs from the base, as git prints it. */
  async diff(options?: CallOptions): Promise<string> {
    const diff = await this.#perform(readDiff, {}, options);
    const chunks: Uint8Array[] = [];
    for await (const bytes of diff.patch()) chunks.push(bytes);
    return decodeRaw(joinBytes(chunks)); // as a whole: a character may lie in two chunks
  }

  /** The files that differ from the base. What the workspace holds is recorded first. */
  async changes(options?: CallOptions): Promise<readonly FileChange[]> {
    const diff = await this.#perform(readDiff, {}, options);
    return await diff.files();
  }

  /** What {@link apply} or {@link merge} would do, without doing it. */
  async plan(input: PlanInput, options?: ProgressOptions): Promise<ShownPlan> {
    return await this.#perform(planIntegration, { ...input }, options);
  }

  /**
   * Brings the changes into index and work tree, all or those at some `paths`; the sandbox stays.
   *
   * @throws LitterboxError `CHANGED_SINCE_SHOWN`, `RISKY_CHANGES`, as `Litterbox.apply`
   */
  async apply({ onPlan, ...input }: ApplyOptions = {}, options?: ProgressOptions): Promise<IntegrateResult> {
    return await this.#perform(applyChanges, { ...input }, { ...options, onPlan });
  }

  /** Merges as `git merge` does, then deletes the sandbox. @throws LitterboxError as {@link apply} */
  async merge({ onPlan, ...input }: MergeOptions = {}, options?: ProgressOptions): Promise<IntegrateResult> {
    return await this.#perform(mergeChanges, { ...input }, { ...options, onPlan });
  }

  /** @throws LitterboxError `UNMERGED_WORK` without `force`, where there is work that nobody took */
  async delete(input: { readonly force?: boolean } = {}, options?: CallOptions): Promise<SandboxRecord> {
    return await this.#perform(deleteSandbox, { ...input }, options);
  }

  /** Pauses, stops or resumes it. */
  async setRunState(state: RunState, options?: CallOptions): Promise<RunStateResult> {
    const [result] = await this.#perform(setRunState, { state }, options);
    return result as RunStateResult; // one sandbox, one result
  }

  /** Puts the workspace to a revision, by number or commit. */
  async restore(revision: string, options?: ProgressOptions): Promise<RestoreResult> {
    return await this.#perform(restoreRevision, { revision }, options);
  }

  /** Rebuilds a runtime that was lost, from the last revision. One that works is left as it is (`CONFLICT`), unless `force` is set. */
  async recover(input: { readonly force?: boolean } = {}, options?: ProgressOptions): Promise<SandboxRecord> {
    return await this.#perform(recoverSandbox, { ...input }, options);
  }

  /** What isolation is in force, as read back when its session started. */
  async assurance(options?: CallOptions): Promise<Assurance | undefined> {
    return (await this.#perform(findSandbox, {}, options)).assurance;
  }

  /** Revisions, newest first. */
  async log({ limit, ...call }: CallOptions & { readonly limit?: number } = {}): Promise<readonly LogEntry[]> {
    const entries = await this.#perform(readLog, { limit, revisionsOnly: true }, call);
    return entries.filter((entry) => entry.type === 'revision');
  }

  /**
   * One call: how it ended, and what it printed, hostile.
   *
   * @param call its number, as entries of the log have it, or the agent's own id of it
   */
  async call(call: number | string, options?: CallOptions): Promise<PastCall> {
    return await this.#perform(readCall, { call: String(call) }, options);
  }

  /** The changed lines of a file, each with the call that wrote it. */
  async blame(path: string, options?: CallOptions): Promise<FileBlame> {
    return await this.#perform(blameFile, { path }, options);
  }

  /** Which tests were run here, how they ended, and whether anything changed since. */
  async proof(options?: CallOptions): Promise<Proof> {
    return await this.#perform(readProof, {}, options);
  }

  /** Requests and tokens at each of its endpoints, over all sessions. */
  async usage(options?: CallOptions): Promise<readonly ShownUsage[]> {
    return await this.#perform(readUsage, {}, options);
  }

  /** Time that its calls took and that processors worked over all sessions, and the memory and disk that it holds now. */
  async compute(options?: CallOptions): Promise<ComputeUse> {
    return await this.#perform(readCompute, {}, options);
  }

  /** What its services do. */
  async services(options?: CallOptions): Promise<readonly ServiceStatus[]> {
    return await this.#perform(controlService, { action: 'status' }, options);
  }

  /** Starts, stops or restarts a service, or all of them; resolves when it is up or down. What it changed is recorded. */
  async service(
    action: 'start' | 'stop' | 'restart',
    service?: string,
    options?: CallOptions,
  ): Promise<readonly ServiceStatus[]> {
    return await this.#perform(controlService, { action, service }, options);
  }

  /** What services print: the end of it, and with `isFollowing` what comes. Hostile text. */
  async *logs({ signal, ...request }: CallOptions & LogsInput = {}): AsyncGenerator<ServiceOutput> {
    yield* await this.#perform(readServiceLogs, { ...request }, { signal });
  }

  /** Its ports, where they are found on this machine, and whether something listens. */
  async ports(options?: CallOptions): Promise<readonly PortStatus[]> {
    return await this.#perform(listPorts, {}, options);
  }

  /**
   * Where this machine reaches a port on which a program inside listens: `http://127.0.0.1:NUMBER/`, the same for every call, until this
   * object or the Litterbox is disposed of or the sandbox is deleted. Nobody inside reaches more by it.
   *
   * @param port 1 to 65535; one that the configuration names has its number
   * @throws LitterboxError `UNSUPPORTED` where the provider cannot connect
   */
  async url(port: number, options?: CallOptions): Promise<string> {
    return portUrl(await this.#perform(openPort, { port }, options));
  }

  /**
   * A new sandbox with everything that this one has now: files, home, a playground of its own, the whole history. What runs here goes on
   * here alone. Without a name it has this one's with the first free number from 2 on. It is ephemeral and has labels where that is asked for.
   */
  async fork({
    name,
    labels,
    ephemeral,
    snapshot,
    ...call
  }: ForkInput = {}): Promise<Sandbox & { readonly forked: ForkResult }> {
    const forked = (await this.#perform(forkSandbox, { name, labels, ephemeral, snapshot }, call)) as ForkResult; // of one
    return this.#forkOf(forked);
  }

  /**
   * Several forks, one after the other, names numbered: with a name from 1 on, without one as {@link fork} does. One that fails leaves the
   * others, and is told in its place.
   */
  async forks(
    count: number,
    { name, labels, ephemeral, snapshot, ...call }: ForkInput = {},
  ): Promise<readonly ((Sandbox & { readonly forked: ForkResult }) | FailedFork)[]> {
    const forked = await this.#perform(forkSandbox, { name, count, labels, ephemeral, snapshot }, call);
    const all = 'forks' in forked ? forked.forks : [forked];
    return all.map((one) => ('error' in one ? one : this.#forkOf(one)));
  }

  /**
   * Does the same work in several forks at once, and ranks them by what a judge says. The forks stay: merge the winner's, delete the others.
   */
  async race(
    { command, judge, count, name, timeoutMs }: Omit<RaceInput, 'sandbox'>,
    options?: ProgressOptions,
  ): Promise<RaceResult> {
    return await this.#perform(raceForks, { command, judge, count, name, timeoutMs }, options);
  }

  #forkOf(forked: ForkResult): Sandbox & { readonly forked: ForkResult } {
    return Object.assign(new Sandbox(this.#useCases, forked.record, forked.hold, this.#ephemeral), { forked });
  }

  /**
   * Keeps what workspace and home hold now, ignored files too, until it is removed or the sandbox is deleted. Without a label it has the
   * first free of s1, s2 … `litterbox.create({ from: id })` makes a sandbox of it.
   */
  async snapshot({ label, ...call }: ProgressOptions & { readonly label?: string } = {}): Promise<TakeSnapshotResult> {
    return await this.#perform(takeSnapshot, { label }, call);
  }

  /** Its snapshots, oldest first. */
  async snapshots(options?: CallOptions): Promise<readonly SandboxSnapshot[]> {
    return await this.#perform(listSnapshots, {}, options);
  }

  /** Puts workspace and home back to a snapshot. What runs here ends; what no call recorded is recorded first. */
  async restoreSnapshot(label: string, options?: ProgressOptions): Promise<RestoreSnapshotResult> {
    return await this.#perform(restoreSnapshot, { label }, options);
  }

  /** Takes the last change back, as a revision; again takes back the one before. */
  async undo(options?: ProgressOptions): Promise<UndoResult> {
    return await this.#perform(undoRevision, {}, options);
  }

  /** Removes a snapshot, and gives what it was. */
  async removeSnapshot(label: string, options?: CallOptions): Promise<SandboxSnapshot> {
    return await this.#perform(removeSnapshot, { label }, options);
  }

  /** Makes one commit of all revisions since the last milestone. Nothing where there are none. */
  async milestone(message: string, options?: CallOptions): Promise<Milestone | undefined> {
    return await this.#perform(cutMilestone, { message }, options);
  }

  /**
   * The seat of the one agent that works here, until it is disposed of or this program ends; `list` names it.
   *
   * @param agent what people call it, such as `codex`
   * @throws LitterboxError `BUSY` while another agent has it
   */
  async seat(agent: string, options?: CallOptions): Promise<Lease> {
    return await this.#perform(seatAgent, { agent }, options);
  }

  /**
   * The sandbox in words for a model that works in it: directories, programs, network and limits, about 300 tokens. Fit for its
   * instructions: no agent's text is in it.
   */
  async describe(options?: CallOptions): Promise<string> {
    return await describeSandbox(this.#useCases, this.name, options);
  }

  /** What runs commands that are given as text: bash where the sandbox has one. */
  async shell(options?: CallOptions): Promise<'bash' | 'sh'> {
    return (await this.#useCases.get(FindShell).find((await this.refresh(options)).record, options)) ?? 'sh';
  }

  /** The record as it is now. */
  async refresh(options?: CallOptions): Promise<Sandbox> {
    const record = await this.#useCases.get(FindSandbox).find(this.name, options);
    return new Sandbox(this.#useCases, record, undefined, this.#ephemeral);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#useCases.get(ForwardPorts).close(this.#record.id);
    await this.#useCases.get(OpenSandboxes).close(this.#record.id);
    const hold = this.#hold;
    this.#ephemeral.delete(this);
    this.#hold = undefined; // disposing twice is fine, and of the Litterbox in between
    if (hold) await this.#deleteEphemeral(hold);
  }

  /** Gone already, by a merge for instance, is gone. Another sandbox may have its name since. */
  async #deleteEphemeral(hold: Lease): Promise<void> {
    try {
      const { id } = await this.#useCases.get(FindSandbox).find(this.name);
      if (id === this.id) await this.delete({ force: true });
    } catch (error) {
      if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;
    } finally {
      await hold[Symbol.asyncDispose]();
    }
  }
}

function resultOf({
  exit,
  shell,
  stdout,
  stderr,
  durationMs,
  interruption,
  recorded,
  hints,
}: RunCommandResult): CommandResult {
  return {
    exitCode: exit.code,
    ...(exit.signal !== undefined && { signal: exit.signal }),
    ...(shell && { shell }),
    stdout: decodeRaw(stdout.bytes),
    stderr: decodeRaw(stderr.bytes),
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    dropped: { stdout: stdout.droppedBytes, stderr: stderr.droppedBytes },
    timedOut: interruption === 'timeout',
    durationMs,
    recorded,
    hints: hints.map((hint) => worded(hint, stepForPrograms)),
  };
}
