import { LitterboxError, type Sandbox } from 'litterbox';
import type { RunningProcess } from './envd/running-process.ts';
import type { AtEnd, Traits } from './traits.ts';

/** A snapshot as the protocol has it. */
export interface ShownSnapshot {
  readonly snapshotID: string;
  readonly names: readonly string[];
}

/** Its end that a sandbox meets when its time is over. */
export type Expire = (served: ServedSandbox) => void;

/** A sandbox that programs reach by the protocol: its time, its state, and the processes that they started. */
export class ServedSandbox {
  readonly sandbox: Sandbox;
  readonly traits: Traits;
  /** By the numbers that programs know them by. */
  readonly processes = new Map<number, RunningProcess>();
  isPaused: boolean;
  /** It is being deleted: nobody finds it any more. */
  isEnding = false;
  #endAtMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** This server looks after its time. */
  #isTimed = false;
  readonly #expire: Expire;

  constructor(sandbox: Sandbox, traits: Traits, isPaused: boolean, expire: Expire) {
    this.sandbox = sandbox;
    this.traits = traits;
    this.isPaused = isPaused;
    this.#expire = expire;
    if (isPaused) this.hold();
  }

  get id(): string {
    return this.sandbox.id;
  }

  get atEnd(): AtEnd {
    return this.traits.atEnd;
  }

  /** When its time is over, at the soonest; while it is paused, when that was seen. */
  get endAtMs(): number {
    return this.#endAtMs ?? Date.now() + this.traits.timeoutSeconds * 1000;
  }

  /** Its time begins now. A sandbox that another server made has none here before: that one may look after it still. */
  endIn(seconds: number): void {
    clearTimeout(this.#timer);
    this.#isTimed = true;
    this.#endAtMs = Date.now() + seconds * 1000;
    this.#timer = setTimeout(() => this.#expire(this), seconds * 1000).unref();
  }

  /** It runs again: its time begins anew, where this server looks after it. */
  goOn(): void {
    this.#endAtMs = undefined;
    if (this.#isTimed) this.endIn(this.traits.timeoutSeconds);
  }

  /** Its time stands still. */
  hold(): void {
    clearTimeout(this.#timer);
    this.#endAtMs = Date.now();
  }

  /** @throws LitterboxError `NOT_FOUND` */
  process({ pid, tag }: { readonly pid?: number | undefined; readonly tag?: string | undefined }): RunningProcess {
    const found =
      pid === undefined
        ? [...this.processes.values()].find((one) => tag !== undefined && one.config.tag === tag)
        : this.processes.get(pid);
    if (found) return found;
    throw new LitterboxError('NOT_FOUND', `There is no process ${pid ?? JSON.stringify(tag)}.`, {
      operation: 'e2b.process',
    });
  }

  /** Ends what runs here; what it changed is recorded. */
  async endProcesses(): Promise<void> {
    await Promise.all([...this.processes.values()].map(async (one) => await one[Symbol.asyncDispose]()));
  }
}
