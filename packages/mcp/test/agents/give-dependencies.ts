import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { AgentFixture } from './agent-fixture.ts';
import type { Talk } from './model-server.ts';
import { DEPENDENCY_COMMAND } from './plots.ts';

/** The person's part where dependencies are missing: runs what the agent asks for, and the test then gets to its own fault. @throws AssertionError */
export function giveDependencies({ scratch, environment, litterbox }: AgentFixture, { results }: Talk): void {
  const [command = ''] = DEPENDENCY_COMMAND.exec(results[0] ?? '') ?? [];
  const ran = spawnSync('sh', ['-ec', command], { cwd: scratch.repository, env: environment, encoding: 'utf8' });
  assert.equal(ran.status, 0, `${command}: ${ran.stderr}`);
  const { status, stderr } = litterbox('run', 'mend-add', 'sh test.sh');
  assert.equal(status, 1, stderr);
  assert.match(stderr, /^want 5, got -1$/m);
}
