import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { CHANGED_LINES, MILESTONE, type Story } from './plots.ts';
import type { AgentFixture } from './agent-fixture.ts';

const SANDBOX = 'mend-add';

/** The person's part: looks at what there is, reads one diff, merges, runs the test. @throws AssertionError */
export function reviewAndMerge(fixture: AgentFixture, { changes }: Story): void {
  const { scratch } = fixture;
  assert.equal(scratch.git('status', '--porcelain'), '', 'the agent touched the files of the person');
  assert.equal(testStatus(fixture), 1, 'the test passes before the merge');

  const log = JSON.parse(said(fixture, 'log', SANDBOX, '--revisions-only', '--json')) as readonly { subject: string }[];
  assert.deepEqual(
    log.map(({ subject }) => subject),
    Array.from({ length: changes }, () => 'patch: add.sh'),
    'one revision for each call that changed files',
  );

  assert.match(JSON.stringify(log), /"call_\d+"/, "the log has the agent's own numbers of its calls");

  const diff = said(fixture, 'diff', SANDBOX);
  assert.deepEqual(
    diff.split('\n').filter((line) => /^(diff |[-+](?!-- |\+\+ ))/.test(line)),
    ['diff --git a/add.sh b/add.sh', ...CHANGED_LINES],
    'the diff is what mends it, and nothing else',
  );

  said(fixture, 'merge', SANDBOX);
  assert.equal(testStatus(fixture), 0, 'the test fails after the merge');
  assert.equal(scratch.git('log', '-1', '--format=%s'), MILESTONE);
  assert.equal(scratch.git('status', '--porcelain'), '');
  assert.deepEqual(JSON.parse(said(fixture, 'list', '--json')), [], 'the merge left the sandbox');
}

const testStatus = ({ scratch, environment }: AgentFixture) =>
  spawnSync('sh', ['test.sh'], { cwd: scratch.repository, env: environment }).status;

function said(fixture: AgentFixture, ...args: readonly string[]): string {
  const { status, stdout, stderr } = fixture.litterbox(...args);
  assert.equal(status, 0, `litterbox ${args.join(' ')}: ${stderr}`);
  return stdout;
}
