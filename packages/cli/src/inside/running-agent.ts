import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says which process lets an agent work inside, so that another one can end it. */
export class RunningAgent implements Disposable {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** @param directory of the sandbox's agent */
  static begin(directory: string): RunningAgent {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(pathIn(directory), OWN_WORDS.join(' '), { mode: 0o600 });
    return new RunningAgent(directory);
  }

  [Symbol.dispose](): void {
    rmSync(pathIn(this.#directory), { force: true });
    rmSync(claimIn(this.#directory, OWN_WORDS), { force: true });
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
    try {
      writeFileSync(claimIn(directory, wordsIn(directory)), '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  }

  /** The process may be dead since: only the seat of the sandbox shows that. */
  static pidOf(directory: string): number | undefined {
    const [pid] = wordsIn(directory);
    return pid === undefined ? undefined : Number(pid);
  }
}

function wordsIn(directory: string): readonly string[] {
  try {
    return readFileSync(pathIn(directory), 'utf8').split(' ');
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

const pathIn = (directory: string) => join(directory, 'pid');

/** A file of which only one can be made: that somebody has asked that process to stop. */
const claimIn = (directory: string, words: readonly string[]) => join(directory, ['stopping', ...words].join('-'));

const OWN_WORDS = [`${process.pid}`, beginningOf(process.pid)];
