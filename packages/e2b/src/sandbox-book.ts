import { isLitterboxError, type Litterbox, LitterboxError, type Sandbox, type SandboxSummary } from 'litterbox';
import type { NewSandbox } from './control/control-input.ts';
import { createInput } from './control/create-input.ts';
import { ServedSandbox, type ShownSnapshot } from './served-sandbox.ts';
import { labelsOf, type Traits, traitsOf } from './traits.ts';

/** When a sandbox could not be ended, this long until the next try, in seconds. */
const AGAIN_SECONDS = 30;

/** All sandboxes that the protocol made in this repository, by this server or one before. It reaches no others. */
export class SandboxBook implements AsyncDisposable {
  readonly #litterbox: Litterbox;
  readonly #served = new Map<string, ServedSandbox>();
  readonly #onProblem: (error: unknown) => void;

  constructor(litterbox: Litterbox, onProblem: (error: unknown) => void) {
    this.#litterbox = litterbox;
    this.#onProblem = onProblem;
  }

  async create(input: NewSandbox, signal: AbortSignal): Promise<ServedSandbox> {
    const { traits, ...wanted } = createInput(input);
    if (wanted.from !== undefined) await this.#ownerOf(wanted.from, signal);
    const sandbox = await this.#litterbox.create({ ...wanted, labels: labelsOf(traits) }, { signal });
    return this.#begin(sandbox, traits);
  }

  /** Those that are there, with the words of Litterbox for each; paused and stopped ones too. */
  async list(signal?: AbortSignal): Promise<readonly (readonly [ServedSandbox, SandboxSummary])[]> {
    const there: (readonly [ServedSandbox, SandboxSummary])[] = [];
    for (const summary of await this.#litterbox.list('repository', { signal })) {
      const traits = traitsOf(summary.labels);
      if (!traits || !['ready', 'paused', 'stopped', 'setup-failed'].includes(summary.state)) continue;
      const isPaused = summary.state === 'paused' || summary.state === 'stopped';
      const served = this.#served.get(summary.id) ?? (await this.#open(summary, traits, isPaused));
      if (served.isPaused !== isPaused) this.#turn(served, isPaused); // by somebody else
      if (!served.isEnding) there.push([served, summary]);
    }
    return there;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND` for one that the protocol did not make too */
  async find(id: string, signal?: AbortSignal): Promise<ServedSandbox> {
    const found = this.#served.get(id) ?? (await this.list(signal)).find(([served]) => served.id === id)?.[0];
    if (found && !found.isEnding) return found;
    throw new LitterboxError('SANDBOX_NOT_FOUND', `There is no sandbox ${JSON.stringify(id)}.`, {
      operation: 'e2b.find',
    });
  }

  /** Those that are known, without a look: for signatures. */
  get known(): Iterable<ServedSandbox> {
    return this.#served.values();
  }

  /** One that answers; a paused one where it may be woken. @throws LitterboxError `SANDBOX_PAUSED`, `SANDBOX_NOT_FOUND` */
  async awake(id: string, signal?: AbortSignal): Promise<ServedSandbox> {
    const served = await this.find(id, signal);
    if (!served.isPaused) return served;
    if (served.traits.autoResume) await this.resume(served, undefined, signal);
    else {
      const { record } = await served.sandbox.refresh({ signal });
      if (record.state !== 'ready')
        throw new LitterboxError('SANDBOX_PAUSED', `The sandbox ${served.sandbox.name} is paused.`, {
          operation: 'e2b.find',
          hint: 'Connect to it to resume it.',
        });
      this.#turn(served, false);
    }
    return served;
  }

  /** Deletes it with all its work, as the protocol says. */
  async kill(served: ServedSandbox): Promise<void> {
    served.hold();
    served.isEnding = true;
    try {
      await served.endProcesses();
      await served.sandbox.delete({ force: true });
    } catch (error) {
      served.isEnding = false;
      if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error; // merged or deleted by a person meanwhile
    }
    this.#served.delete(served.id);
    await served.sandbox[Symbol.asyncDispose]();
  }

  /** @param keepsMemory processes stay frozen; otherwise they end. @returns false where it was paused */
  async pause(served: ServedSandbox, keepsMemory: boolean): Promise<boolean> {
    if (served.isPaused) return false;
    if (!keepsMemory) await served.endProcesses();
    await served.sandbox.setRunState(keepsMemory ? 'paused' : 'stopped');
    for (const one of served.processes.values()) one.leave('The sandbox was paused.');
    this.#turn(served, true);
    return true;
  }

  /** @param seconds its new time; as it was made with when left out */
  async resume(served: ServedSandbox, seconds: number | undefined, signal?: AbortSignal): Promise<void> {
    await served.sandbox.setRunState('ready', { signal });
    served.isPaused = false;
    served.endIn(seconds ?? served.traits.timeoutSeconds);
  }

  /** Copies of one, each with its own time; in the place of one that fails is its error. */
  async fork(served: ServedSandbox, count: number, seconds: number | undefined): Promise<readonly unknown[]> {
    const traits = { ...served.traits, ...(seconds !== undefined && { timeoutSeconds: seconds }) };
    const forks = await served.sandbox.forks(count, { labels: labelsOf(traits) });
    return forks.map((one) => ('error' in one ? one.error : this.#begin(one, traits)));
  }

  /** Keeps what a sandbox holds now, until it is removed or the sandbox is deleted. */
  async snapshot({ sandbox }: ServedSandbox, name: string | undefined, signal: AbortSignal): Promise<ShownSnapshot> {
    const { id, note } = await sandbox.snapshot({ ...(name !== undefined && { label: name }), signal });
    return { snapshotID: id, names: [note.label] };
  }

  /** Snapshots of all sandboxes of the protocol, or of one. */
  async snapshots(of: string | undefined, signal: AbortSignal): Promise<readonly ShownSnapshot[]> {
    const shown: ShownSnapshot[] = [];
    for (const [{ sandbox }] of await this.list(signal)) {
      if (of !== undefined && sandbox.id !== of) continue;
      for (const { id, name, note } of await sandbox.snapshots({ signal }))
        shown.push({ snapshotID: id, names: [note?.label ?? name] });
    }
    return shown;
  }

  /** @throws LitterboxError `NOT_FOUND` */
  async removeSnapshot(id: string, signal: AbortSignal): Promise<void> {
    const { sandbox } = await this.#ownerOf(id, signal);
    await sandbox.removeSnapshot(id.slice(id.indexOf('/') + 1), { signal });
  }

  /** The sandbox that a snapshot was taken of; one of the protocol alone. */
  async #ownerOf(id: string, signal: AbortSignal): Promise<ServedSandbox> {
    for (const [served] of await this.list(signal)) {
      const found = (await served.sandbox.snapshots({ signal })).some((one) => one.id === id);
      if (found) return served;
    }
    throw new LitterboxError('NOT_FOUND', `There is no snapshot ${JSON.stringify(id)}.`, { operation: 'e2b.create' });
  }

  /** Ends all processes, whose changes are recorded. The sandboxes stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const served of this.#served.values()) served.hold();
    await Promise.all([...this.#served.values()].map(async (served) => await served.endProcesses()));
  }

  /** One that was made here: its time begins. */
  #begin(sandbox: Sandbox, traits: Traits): ServedSandbox {
    const served = this.#serve(new ServedSandbox(sandbox, traits, false, this.#expire));
    served.endIn(traits.timeoutSeconds);
    return served;
  }

  #serve(served: ServedSandbox): ServedSandbox {
    this.#served.set(served.id, served);
    return served;
  }

  async #open({ name }: SandboxSummary, traits: Traits, isPaused: boolean): Promise<ServedSandbox> {
    const sandbox = await this.#litterbox.open(name);
    return this.#served.get(sandbox.id) ?? this.#serve(new ServedSandbox(sandbox, traits, isPaused, this.#expire));
  }

  #turn(served: ServedSandbox, isPaused: boolean): void {
    served.isPaused = isPaused;
    if (isPaused) served.hold();
    else served.goOn();
  }

  /** Where memory cannot be kept, the files are. */
  async #end(served: ServedSandbox): Promise<void> {
    if (served.atEnd === 'kill') return await this.kill(served);
    try {
      await this.pause(served, served.atEnd === 'pause');
    } catch (error) {
      if (!isLitterboxError(error, 'UNSUPPORTED')) throw error;
      await this.pause(served, false);
    }
  }

  readonly #expire = (served: ServedSandbox): void => {
    this.#end(served).catch((error: unknown) => {
      this.#onProblem(error);
      served.endIn(AGAIN_SECONDS);
    });
  };
}
