import { createHash } from 'node:crypto';
import { ClientProcess } from '../faults/client-process.ts';
import { violations } from '../faults/invariants.ts';
import type { Job } from '../faults/job.ts';
import { type FaultFixture, faultFixture } from '../faults/fault-fixture.ts';
import { checkHistory } from './check-history.ts';
import type { Call, History, Sample } from './history.ts';
import { Random } from './random.ts';
import { readChains, readMerged } from './read-chains.ts';

export interface ModelOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly processes: number;
  /** Names that the processes make, use and delete sandboxes under. */
  readonly sandboxes: number;
  /** Kill and freeze processes meanwhile. */
  readonly nemesis: boolean;
}

export interface ModelResult {
  readonly problems: readonly string[];
  readonly calls: readonly Call[];
  /** Calls by operation and outcome, kills, freezes. */
  readonly counts: Readonly<Record<string, number>>;
}

const FILES = 3;
const WRITTEN = /^m\d+\/f\d+$/;
/** After the last call has been sent: sandboxes are resumed and what hangs is an error. */
const QUIESCE_MS = 60_000;
/** In the user's repository, while a create pins its base; a reconcile removes what a killed one left. */
const UNFINISHED = /^\.git\/\.litterbox-.*\.tmp$/;
const WEIGHTS = {
  create: 6,
  write: 20,
  run: 20,
  read: 20,
  milestone: 5,
  apply: 2,
  merge: 2,
  delete: 2,
  pause: 2,
  resume: 6,
  list: 3,
  reconcile: 3,
} as const;

/** Processes use one repository at random, are killed and frozen, and every call is written down; then the history is checked. */
export async function runModel(options: ModelOptions): Promise<ModelResult> {
  await using fixture = faultFixture();
  fixture.git('config', 'gc.auto', '0'); // it would change the repository in the background, at a time of its own
  const model = new Model(fixture, options);
  return await model.run();
}

class Model {
  readonly #one: FaultFixture;
  readonly #options: ModelOptions;
  readonly #calls: Call[] = [];
  readonly #samples: Sample[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #clients: (ClientProcess | undefined)[] = [];
  readonly #over: number;
  #integrations = 0;
  #isUnsettled = false;
  #token = 0;
  #ending = false;

  constructor(fixture: FaultFixture, options: ModelOptions) {
    this.#one = fixture;
    this.#options = options;
    this.#over = performance.now() + options.seconds * 1000;
  }

  async run(): Promise<ModelResult> {
    const { processes, seed, nemesis } = this.#options;
    this.#sample();
    const workers = Array.from({ length: processes }, (_, index) => this.#work(index, new Random(seed * 1000 + index)));
    const trouble = nemesis ? this.#trouble(new Random(seed)) : Promise.resolve();
    await trouble;
    const hangs = await this.#quiesce(Promise.all(workers));
    const settled = await this.#one.once(async (litterbox) => await litterbox.reconcile());
    for (const sentence of settled) this.#count(`settled: ${sentence.replace(/ of \S+.*$/, '')}`);
    this.#one.accept();
    const left = [...this.#one.digest.keys()].filter((path) => UNFINISHED.test(path)).map((path) => `${path} is left`);
    const history: History = {
      calls: this.#calls,
      samples: this.#samples,
      chains: readChains(this.#one.stateDirectory, WRITTEN),
      merged: readMerged(this.#one.repository),
    };
    for (const { commit } of this.#calls) if (commit !== undefined) this.#one.acknowledged.add(commit);
    return {
      problems: [...hangs, ...left, ...checkHistory(history), ...(await violations(this.#one))],
      calls: this.#calls,
      counts: this.#counts,
    };
  }

  async #work(worker: number, random: Random): Promise<void> {
    while (performance.now() < this.#over) {
      const operation = random.weighted(WEIGHTS);
      const sandbox = `m${random.below(this.#options.sandboxes)}`;
      await this.#call(worker, operation, sandbox, random);
    }
    await this.#clients[worker]?.ended();
  }

  async #call(worker: number, operation: keyof typeof WEIGHTS, sandbox: string, random: Random): Promise<void> {
    const client = (this.#clients[worker] ??= this.#one.client());
    const path = `${sandbox}/f${random.below(FILES)}`;
    const value = operation === 'write' || operation === 'run' ? `w${worker}-${++this.#token}` : undefined;
    const changesUser = operation === 'apply' || operation === 'merge' || operation === 'reconcile';
    if (changesUser && this.#integrations++ === 0) this.#sample();
    const invokedMs = performance.now();
    client.send(jobOf(operation, sandbox, path, value ?? ''));
    const reply = await client.reply();
    const base = { worker, sandbox, invokedMs, operation: operation === 'run' ? 'write' : operation };
    const at = value === undefined && operation !== 'read' ? {} : { path };
    if (!reply) {
      this.#calls.push({ ...base, ...at, ...(value !== undefined && { value }), outcome: 'unknown' });
      this.#clients[worker] = undefined;
      await client.ended();
      if (changesUser) this.#isUnsettled = true;
    } else if (reply.error) {
      const { code, message } = reply.error;
      this.#calls.push({
        ...base,
        ...at,
        ...(value !== undefined && { value }),
        message,
        returnedMs: performance.now(),
        outcome: 'error',
        code,
      });
    } else {
      this.#calls.push({
        ...base,
        ...at,
        ...answer(operation, value, reply.ok),
        returnedMs: performance.now(),
        outcome: 'ok',
      });
      if (operation === 'reconcile') this.#isUnsettled = false;
    }
    this.#count(`${operation} ${reply ? (reply.error?.code ?? 'ok') : 'unknown'}`);
    if (changesUser && --this.#integrations === 0) this.#userActs(random);
  }

  /** Nobody changes the user's repository now: it is looked at, and the user may commit or drop what was applied. */
  #userActs(random: Random): void {
    this.#sample();
    if (this.#isUnsettled || this.#one.git('--no-optional-locks', 'status', '--porcelain') === '') return;
    const invokedMs = performance.now();
    const isKept = random.next() < 0.7 && this.#one.git('ls-files', '--unmerged') === '';
    if (isKept) this.#one.git('commit', '-qam', 'applied');
    else this.#one.git('reset', '-q', '--hard');
    this.#sample();
    const user = { worker: -1, sandbox: '', operation: 'user', outcome: 'ok' } as const;
    this.#calls.push({ ...user, invokedMs, returnedMs: performance.now() });
  }

  #sample(): void {
    this.#one.accept();
    const text = JSON.stringify([...this.#one.digest].filter(([path]) => !UNFINISHED.test(path)));
    this.#samples.push({ atMs: performance.now(), digest: createHash('sha256').update(text).digest('hex') });
  }

  async #trouble(random: Random): Promise<void> {
    while (performance.now() < this.#over) {
      await new Promise((resolve) => setTimeout(resolve, random.between(200, 1200)));
      const client = this.#clients[random.below(this.#options.processes)];
      if (!client) continue;
      if (random.next() < 0.6) {
        this.#count('kills');
        client.kill('SIGKILL');
        continue;
      }
      this.#count('freezes');
      client.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, random.between(100, 1500)));
      client.kill('SIGCONT');
    }
  }

  /** No call may hang once every sandbox runs again. */
  async #quiesce(working: Promise<unknown>): Promise<readonly string[]> {
    const deadline = performance.now() + QUIESCE_MS;
    const done = working.then(() => (this.#ending = true));
    while (!this.#ending && performance.now() < deadline) {
      await this.#one.once(async (litterbox) => {
        for (const { name, state } of await litterbox.list())
          if (state === 'paused') await litterbox.setRunState(name, 'ready').catch(() => undefined); // others do the same
      });
      await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 200))]);
    }
    if (this.#ending) return [];
    for (const client of this.#clients) client?.kill();
    await done;
    return ['a call did not end although every sandbox runs'];
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }
}

function jobOf(operation: keyof typeof WEIGHTS, name: string, path: string, value: string): Job {
  switch (operation) {
    case 'write':
      return { do: 'write', name, path, content: value };
    case 'run':
      // By a rename, as `write` does: who reads a file that is written over in its place may get some of both.
      return {
        do: 'run',
        name,
        command: `mkdir -p ${name}; printf %s ${value} >${name}/new && mv ${name}/new ${path}`,
      };
    case 'read':
      return { do: 'read', name, path };
    case 'milestone':
      return { do: 'milestone', name, message: `milestone of ${name}` };
    case 'pause':
      return { do: 'state', name, state: 'paused' };
    case 'resume':
      return { do: 'state', name, state: 'ready' };
    case 'list':
    case 'reconcile':
      return { do: operation };
    case 'create':
    case 'apply':
    case 'merge':
    case 'delete':
      return { do: operation, name };
  }
}

function answer(operation: string, value: string | undefined, ok: unknown): Pick<Call, 'value' | 'commit' | 'id'> {
  if (typeof ok !== 'object' || ok === null) return value === undefined ? {} : { value };
  const id = 'id' in ok && typeof ok.id === 'string' ? { id: ok.id } : {};
  if (operation === 'read') return { value: 'content' in ok ? String(ok.content) : '', ...id };
  if ('isDeleted' in ok) return ok.isDeleted === true ? id : {};
  const commit = 'commit' in ok && typeof ok.commit === 'string' ? { commit: ok.commit } : {};
  return { ...(value !== undefined && { value }), ...commit };
}
