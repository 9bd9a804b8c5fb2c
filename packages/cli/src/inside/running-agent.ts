import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says which process lets an agent work inside, so that another one can end it. */
export class RunningAgent implements Disposable {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @param directory of the sandbox's agent */
  static begin(directory: string): RunningAgent {
    const path = pathIn(directory);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(path, String(process.pid), { mode: 0o600 });
    return new RunningAgent(path);
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { force: true });
  }

  /** Whether a process of that number is there still. */
  static isAtWork(directory: string): boolean {
    const pid = RunningAgent.pidOf(directory);
    try {
      return pid !== undefined && process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  /** The process may be dead since: only the seat of the sandbox shows that. */
  static pidOf(directory: string): number | undefined {
    try {
      return Number(readFileSync(pathIn(directory), 'utf8'));
    } catch {
      return undefined;
    }
  }
}

const pathIn = (directory: string) => join(directory, 'pid');
