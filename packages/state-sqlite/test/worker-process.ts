import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const WORKER = fileURLToPath(new URL('fixtures/worker.ts', import.meta.url));

/** Another process over the same state directory. */
export class WorkerProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exit: Promise<unknown[]>;

  constructor(directory: string, action: string, ...parameters: readonly string[]) {
    const node = ['--conditions=@litterbox/source', '--no-warnings', WORKER, directory, action, ...parameters];
    this.child = spawn(process.execPath, node, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    });
    const { stdout } = this.child;
    if (!stdout) throw new Error('no output');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.#exit = once(this.child, 'exit');
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The next value that it says. */
  async says(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the worker said nothing more');
    return JSON.parse(value) as unknown;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
  }
}
