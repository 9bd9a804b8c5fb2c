import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says which process lets an agent work inside, so that another one can end it. */
export class RunningAgent implements Disposable {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @param id of the sandbox */
  static begin(stateDirectory: string, id: string): RunningAgent {
    const path = pathOf(stateDirectory, id);
    mkdirSync(join(stateDirectory, 'agents'), { recursive: true, mode: 0o700 });
    writeFileSync(path, String(process.pid), { mode: 0o600 });
    return new RunningAgent(path);
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { force: true });
  }

  /** The process may be dead since: only the seat of the sandbox shows that. */
  static pidOf(stateDirectory: string, id: string): number | undefined {
    try {
      return Number(readFileSync(pathOf(stateDirectory, id), 'utf8'));
    } catch {
      return undefined;
    }
  }
}

const pathOf = (stateDirectory: string, id: string) => join(stateDirectory, 'agents', `${id}.pid`);
