import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { endTree } from './end-tree.ts';

const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('FC-315: what is deaf behind a launcher that ends at once is killed', async () => {
  const deaf = `sh -c 'trap "" TERM; echo $$; while :; do sleep 0.1; done'`;
  const launcher = spawn('sh', ['-c', `trap 'exit 0' TERM; ${deaf} & wait`], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(launcher.stdout, 'data')) as [Buffer];
  const agent = Number(said.toString());
  expect(isThere(agent)).toBe(true);
  await endTree(launcher.pid ?? 0, 200);
  while (isThere(agent)) await new Promise((go) => setTimeout(go, 20));
  expect(launcher.exitCode ?? launcher.signalCode).not.toBeNull();
});
