import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { story } from './story.ts';

const HOOK = Symbol.for('litterbox.failpoint');

/** Pauses a sandbox from another program, and waits for it: nothing of this one goes on meanwhile. */
function pausedElsewhere(repository: string, stateDirectory: string, name: string): void {
  const words = `
    import { createLitterbox } from 'litterbox';
    import { overlayfs } from '@litterbox/provider-overlayfs';
    await using litterbox = createLitterbox({ repo: ${JSON.stringify(repository)}, stateDirectory: ${JSON.stringify(stateDirectory)}, providers: [overlayfs] });
    await litterbox.setRunState(${JSON.stringify(name)}, 'paused');`;
  execFileSync(
    process.execPath,
    ['--no-warnings', '--conditions=@litterbox/source', '--input-type=module', '-e', words],
    {
      cwd: new URL('.', import.meta.url),
    },
  );
}

it('a command whose sandbox is paused before it is recorded gives its output, and is recorded by the next call', async () => {
  await using told = story();
  const litterbox = told.open();
  const sandbox = await litterbox.create({ name: 'a' });
  let isPaused = false;
  Object.assign(globalThis, {
    [HOOK](point: string) {
      if (point !== 'exec.after-exit' || isPaused) return;
      isPaused = true;
      pausedElsewhere(told.repository, told.stateDirectory, 'a');
    },
  });
  try {
    const ran = await sandbox.run('echo said; echo done >done.txt; exit 3');
    expect([ran.exitCode, ran.stdout]).toEqual([3, 'said\n']);
    expect(ran.recorded).toEqual({
      changedFiles: 0,
      warnings: [{ type: 'postponed', code: 'SANDBOX_PAUSED', path: '.' }],
      moreWarnings: 0,
    });
  } finally {
    Reflect.deleteProperty(globalThis, HOOK);
  }
  await expect(sandbox.run('true')).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
  await litterbox.setRunState('a', 'ready');
  expect((await sandbox.run('cat done.txt')).stdout).toBe('done\n');
  expect((await sandbox.log()).map(({ subject }) => subject)).toEqual(['recovered: changes found before this call']);
});
