import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { CHANGED_LINES, MILESTONE } from './plots.ts';
import type { Scene } from './scene.ts';

const SANDBOX = 'mend-add';

/** The person's part: looks at what there is, reads one diff, merges, runs the test. @throws AssertionError */
export function reviewAndMerge(scene: Scene): void {
  const { scratch } = scene;
  assert.equal(scratch.git('status', '--porcelain'), '', 'the agent touched the files of the person');
  assert.equal(testStatus(scene), 1, 'the test passes before the merge');

  const log = JSON.parse(said(scene, 'log', SANDBOX, '--revisions-only', '--json')) as readonly { subject: string }[];
  assert.deepEqual(
    log.map(({ subject }) => subject),
    ['patch: add.sh'],
    'one call changed files, so there is one revision',
  );

  const diff = said(scene, 'diff', SANDBOX);
  assert.deepEqual(
    diff.split('\n').filter((line) => /^(diff |[-+](?!-- |\+\+ ))/.test(line)),
    ['diff --git a/add.sh b/add.sh', ...CHANGED_LINES],
    'the diff is what mends it, and nothing else',
  );

  said(scene, 'merge', SANDBOX);
  assert.equal(testStatus(scene), 0, 'the test fails after the merge');
  assert.equal(scratch.git('log', '-1', '--format=%s'), MILESTONE);
  assert.equal(scratch.git('status', '--porcelain'), '');
  assert.deepEqual(JSON.parse(said(scene, 'list', '--json')), [], 'the merge left the sandbox');
}

const testStatus = ({ scratch, environment }: Scene) =>
  spawnSync('sh', ['test.sh'], { cwd: scratch.repository, env: environment }).status;

function said(scene: Scene, ...args: readonly string[]): string {
  const { status, stdout, stderr } = scene.litterbox(...args);
  assert.equal(status, 0, `litterbox ${args.join(' ')}: ${stderr}`);
  return stdout;
}
