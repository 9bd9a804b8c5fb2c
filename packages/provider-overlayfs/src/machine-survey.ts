import {
  type CallOptions,
  type Host,
  type HostFacts,
  LitterboxError,
  type ProviderKey,
  advice,
  step,
} from '@litterbox/core/provider';
import { type DirectoryLayout, hasSeccompFilter, seccompFilter } from '@litterbox/linux-sandbox';
import { choosing, type StrategyChoice, strategyNamed } from './strategies/choose-strategy.ts';
import { type Machine, readMachine } from './machine/machine.ts';
import type { SessionProgram } from './machine/session-program.ts';
import type { Strategy } from './strategies/strategy.ts';

/** What is looked at, and for whom. */
export interface MachineSurveyInput {
  readonly provider: ProviderKey;
  readonly host: Host;
  readonly facts: HostFacts;
  readonly layout: DirectoryLayout;
  /** This way of copying or none. */
  readonly wanted: Strategy['name'] | undefined;
  readonly program: SessionProgram;
}

/** A path at which no file is looked for. */
const NOTHING = '/dev/null';

/** Looks at the host once per process, as tools and file systems do not come and go while it runs, and keeps what it found. */
export class MachineSurvey {
  readonly #provider: ProviderKey;
  readonly #host: Host;
  readonly #facts: HostFacts;
  readonly #layout: DirectoryLayout;
  readonly #wanted: Strategy['name'] | undefined;
  readonly #program: SessionProgram;
  #machine: Promise<Machine> | undefined;
  /** By the strategy that was asked for, each tried once. */
  readonly #choices = new Map<Strategy['name'] | undefined, Promise<StrategyChoice>>();
  /** By the directories of PATH. */
  readonly #others = new Map<string, Promise<Machine>>();
  #filter: Promise<string> | undefined;

  constructor({ provider, host, facts, layout, wanted, program }: MachineSurveyInput) {
    this.#provider = provider;
    this.#host = host;
    this.#facts = facts;
    this.#layout = layout;
    this.#wanted = wanted;
    this.#program = program;
  }

  /** The next question looks again. */
  forget(): void {
    this.#machine = undefined;
    this.#others.clear();
    this.#choices.clear();
  }

  machine(options?: CallOptions): Promise<Machine> {
    this.#machine ??= this.#read().catch((error: unknown) => {
      this.#machine = undefined;
      throw error;
    });
    options?.signal?.throwIfAborted();
    return this.#machine;
  }

  async #read(): Promise<Machine> {
    const filter = this.#filterPath(this.#facts.architecture);
    const program = this.#program.wantedPath ?? NOTHING;
    return await readMachine(this.#host, this.#facts, this.#provider, { filter, program });
  }

  /**
   * The machine as a sandbox sees it that was made with these directories in PATH: they come first, and what is new in PATH on top. Mostly
   * PATH is as it was, and nothing is looked at once more.
   */
  async machineWith(searchPath: readonly string[] = [], options?: CallOptions): Promise<Machine> {
    const machine = await this.machine(options);
    const now = this.#facts.searchPath;
    const facts = { ...this.#facts, searchPath: [...new Set([...searchPath, ...now])] };
    if (searchPath.every((path) => now.includes(path))) return { ...machine, facts };
    const key = facts.searchPath.join(':');
    const known =
      this.#others.get(key) ??
      readMachine(this.#host, facts, this.#provider, { filter: NOTHING, program: NOTHING }, options);
    this.#others.set(key, known);
    return { ...(await known), hasFilter: machine.hasFilter, program: machine.program };
  }

  /** @throws LitterboxError `TOOL_MISSING` or `UNAVAILABLE` where no sandbox can run */
  async usableMachine(options?: CallOptions): Promise<Machine> {
    const machine = await this.machine(options);
    const [first] = machine.checks.filter(({ status }) => status === 'failed');
    if (!first) return machine;
    throw new LitterboxError(
      first.name === 'tools' ? 'TOOL_MISSING' : 'UNAVAILABLE',
      `Sandboxes cannot run on this machine: ${first.finding}.`,
      {
        operation: 'provider.create',
        provider: this.#provider,
        hint: first.remedy ?? advice`Run ${step('machine-check')}.`,
      },
    );
  }

  /** @param asked a strategy's name; absent: the one that the provider was told, or the first that works */
  async strategy(options?: CallOptions, asked?: string): Promise<StrategyChoice> {
    const wanted = asked === undefined ? this.#wanted : strategyNamed(asked, this.#provider).name;
    const known = this.#choices.get(wanted);
    if (known) return await known;
    const user = { provider: this.#provider, isRoot: this.#facts.uid === 0 };
    options?.signal?.throwIfAborted();
    const choice = choosing(this.#host, this.#layout.sandboxes, user, wanted).catch((error: unknown) => {
      this.#choices.delete(wanted);
      throw error;
    });
    this.#choices.set(wanted, choice);
    return await choice;
  }

  /**
   * Absolute path of the filter of system calls, which is written where it was not there. Its parent has to be there.
   *
   * @throws LitterboxError `UNSUPPORTED` for a machine whose system calls are not known
   */
  filterFile({ facts, hasFilter }: Machine): Promise<string> {
    this.#filter ??= (async () => {
      const path = this.#filterPath(facts.architecture);
      if (!hasFilter)
        await this.#host.files.write(path, seccompFilter(facts.architecture, this.#provider), { mode: 0o600 });
      return path;
    })();
    return this.#filter;
  }

  /** Absolute path of the session program; undefined where shell text starts sessions. */
  async programFile(options?: CallOptions): Promise<string | undefined> {
    return await this.#program.path((await this.machine(options)).program, options);
  }

  /** A file that is never there, where there is no filter. */
  #filterPath(architecture: string): string {
    const sum = hasSeccompFilter(architecture) ? checksum(seccompFilter(architecture, this.#provider)) : 'unknown';
    return `${this.#layout.root}/seccomp-${architecture}-${sum}.bpf`;
  }
}

/** Tells versions of the filter apart (FNV-1a); nothing secret hangs on it. */
function checksum(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
