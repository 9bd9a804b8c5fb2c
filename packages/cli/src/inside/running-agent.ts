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
    writeFileSync(path, `${process.pid} ${beginningOf(process.pid)}`, { mode: 0o600 });
    return new RunningAgent(path);
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { force: true });
  }

  /** Whether that process is there still. Another one may have its number by now. */
  static isAtWork(directory: string): boolean {
    const [pid, began] = wordsIn(directory);
    try {
      return pid !== undefined && process.kill(Number(pid), 0) && beginningOf(Number(pid)) === began;
    } catch {
      return false;
    }
  }

  /** Whether the process was asked to stop by nobody before: a second signal ends it before it has recorded anything. */
  static claimStop(directory: string): boolean {
    const words = wordsIn(directory).join(' ');
    if (wordsIn(directory, 'stopping').join(' ') === words) return false;
    writeFileSync(pathIn(directory, 'stopping'), words, { mode: 0o600 });
    return true;
  }

  /** The process may be dead since: only the seat of the sandbox shows that. */
  static pidOf(directory: string): number | undefined {
    const [pid] = wordsIn(directory);
    return pid === undefined ? undefined : Number(pid);
  }
}

function wordsIn(directory: string, name = 'pid'): readonly string[] {
  try {
    return readFileSync(pathIn(directory, name), 'utf8').split(' ');
  } catch {
    return [];
  }
}

/** In ticks since the machine began, by proc(5); nothing where the system does not say. */
function beginningOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
  } catch {
    return '';
  }
}

const pathIn = (directory: string, name = 'pid') => join(directory, name);
