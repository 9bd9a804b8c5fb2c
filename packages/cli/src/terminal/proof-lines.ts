import { type Proof, type TestRun, visibleName } from '@litterbox/core';
import { ago } from './table.ts';
import type { Talk } from './talk.ts';

/** A line for each test that was run in a sandbox, or one that says that there was none. */
export function proofLines(
  talk: Pick<Talk, 'paint'>,
  { tests, looked, isMore }: Proof,
  sandbox: string,
): readonly string[] {
  if (tests.length === 0) {
    const where = isMore ? `the last ${looked} calls` : 'any call';
    return [talk.paint('yellow', `Tests: no command of ${where} looks like one.`, process.stderr)];
  }
  const lines = tests.map((test) => talk.paint(colourOf(test), testLine(test), process.stderr));
  return [...lines, `  What a call printed: litterbox log ${sandbox} ${tests[0]?.call}`];
}

/** A command stands in quotes of ours, and what is in it is shown, so that it cannot pass for the end of the line. */
function testLine({ call, command, outcome, exitCode, isOwnExit, changesSince, atMs }: TestRun): string {
  const ended = exitCode === undefined ? `did not end (${outcome})` : `exit ${exitCode}`;
  const whose = isOwnExit || exitCode === undefined ? '' : ' of something else in it';
  const since =
    changesSince === 0
      ? 'nothing changed since'
      : `${changesSince === 1 ? 'one change' : `${changesSince} changes`} since`;
  return `Tests: call ${call}, ${ended}${whose}, ${since}, ${ago(atMs)}: \`${visibleName(command, 100).replaceAll('`', "'")}\``;
}

function colourOf({ exitCode, isOwnExit, changesSince }: TestRun): 'green' | 'yellow' | 'red' {
  if (exitCode !== undefined && exitCode !== 0 && isOwnExit) return 'red';
  return exitCode === 0 && isOwnExit && changesSince === 0 ? 'green' : 'yellow';
}
