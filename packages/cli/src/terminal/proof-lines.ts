import { type Proof, type TestRun, visibleName } from '@litterbox/core';
import { ago } from './table.ts';
import type { Talk } from './talk.ts';

/**
 * A line for each test that was run in a sandbox, or one that says that there was none.
 *
 * @param isPart some of its changes alone are taken: no test saw just those
 */
export function proofLines(
  talk: Pick<Talk, 'paint'>,
  { tests, looked, isMore }: Proof,
  sandbox: string,
  isPart = false,
): readonly string[] {
  if (tests.length === 0) {
    const where = isMore ? `the last ${looked} calls` : 'any call';
    return [talk.paint('yellow', `Tests: no command of ${where} looks like one.`, process.stderr)];
  }
  const lines = tests.map((test) => {
    const colour = colourOf(test);
    return talk.paint(isPart && colour === 'green' ? 'yellow' : colour, testLine(test), process.stderr);
  });
  const part = isPart ? ['  Tests saw all changes of the sandbox, with any that you leave out.'] : [];
  return [...lines, ...part, `  What a call printed: litterbox log ${sandbox} ${tests[0]?.call}`];
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
