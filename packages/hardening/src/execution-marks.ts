import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of the host that no sandbox sees. Payloads touch a file in it; a file in it means that one ran on the host. */
export interface ExecutionMarks extends Disposable {
  readonly directory: string;
  /** Shell text that leaves a mark. */
  touch(id: string): string;
  /** Which there are. */
  found(): readonly string[];
  /** Takes away what a positive control left. */
  clear(): void;
}

export function executionMarks(): ExecutionMarks {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-marks-'));
  const found = () => readdirSync(directory).toSorted();
  return {
    directory,
    touch: (id) => `touch ${directory}/${id}`,
    found,
    clear() {
      for (const name of found()) rmSync(join(directory, name));
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
