import { testIn } from '../../domain/processes/test-in.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { AuditEntry } from '../../ports/state/audit-log.ts';
import type { HistoryEntry, ReadHistory } from './read-history.ts';

/** A command that looks like a test, as it was run last. */
export interface TestRun {
  /** The number of the call: `log NAME CALL` shows what it printed. */
  readonly call: number;
  /** The whole command, hostile. */
  readonly command: string;
  readonly actor: string;
  readonly atMs: number;
  readonly outcome: AuditEntry['outcome'];
  readonly exitCode?: number;
  /** False when the exit status is that of something else in the command: `npm test | tail`. */
  readonly isOwnExit: boolean;
  /** Revisions that came after it: 0 when it saw the files as they are. */
  readonly changesSince: number;
}

/** The log's proof of a sandbox's work: which tests were run, and whether they were of these files. */
export interface Proof {
  /** At most three different commands, the last one first. By their words: nobody knows from here whether they test anything. */
  readonly tests: readonly TestRun[];
  /** How many lines of the log were looked through. */
  readonly looked: number;
  /** True when there are older ones. */
  readonly isMore: boolean;
}

const MAX_TESTS = 3;
/** A test that lies further back is no proof of what is there now. */
const MAX_LOOKED = 500;

interface Needs {
  readonly readHistory: ReadHistory;
}

/** Finds what was run in a sandbox to show that its work is right. */
export class ReadProof {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND`. */
  async read(name: string, options?: CallOptions): Promise<Proof> {
    const entries = await this.#needs.readHistory.read(name, { limit: MAX_LOOKED, quietCalls: true }, options);
    return { tests: testsOf(entries), looked: entries.length, isMore: entries.length === MAX_LOOKED };
  }
}

/** @param entries newest first */
function testsOf(entries: readonly HistoryEntry[]): readonly TestRun[] {
  const tests = new Map<string, TestRun>();
  let changesSince = 0;
  for (const entry of entries) {
    const { call, command, actor, exitCode, atMs } = entry;
    const found = command === undefined ? undefined : testIn(command);
    if (found && call !== undefined && command !== undefined && actor !== undefined && !tests.has(command)) {
      const outcome = entry.type === 'call' ? entry.outcome : 'ok';
      const ended = { outcome, ...(exitCode !== undefined && { exitCode }), ...found };
      tests.set(command, { call, command, actor, atMs, ...ended, changesSince });
      if (tests.size === MAX_TESTS) break;
    }
    if (entry.type === 'revision') changesSince += 1;
  }
  return [...tests.values()];
}
