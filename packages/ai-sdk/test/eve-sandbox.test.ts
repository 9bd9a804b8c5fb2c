import { expect, test } from '@jest/globals';
import { memoryLitterbox } from 'litterbox/testing';
import { eveSandbox } from '../src/index.ts';

const workspace = { targetPath: '/workspace', files: [{ relativePath: 'schema.sql', content: 'select 1\n' }] };
const skills = { targetPath: '$HOME/.agents/skills', files: [{ relativePath: 'a/SKILL.md', content: 'skill\n' }] };

test('what was prepared once is in the sandbox of each session, which lives from process to process', async () => {
  await using litterbox = memoryLitterbox({ repo: false });
  const environment = eveSandbox(litterbox).environment({
    environment: { MODE: 'fast' },
    prepare: async (sandbox) =>
      void (await sandbox.run({ command: 'echo $MODE $AI_AGENT >dep; cat schema.sql >>dep' })),
  });
  const artifact = JSON.parse(JSON.stringify(await environment.prepare({ resources: { workspace, skills } })));
  const one = await environment.start({}, undefined, artifact);
  const other = await environment.start({}, undefined, artifact);
  const { sandbox } = one.handle;
  expect(await sandbox.readTextFile({ path: 'dep' })).toBe('fast eve\nselect 1\n');
  expect((await sandbox.run({ command: 'cat "$HOME/.agents/skills/a/SKILL.md"; pwd' })).stdout).toBe(
    'skill\n/workspace\n',
  );
  expect(['a/../b', '/tmp/x'].map((path) => sandbox.resolvePath(path))).toEqual(['/workspace/b', '/tmp/x']);
  await sandbox.writeTextFile({ path: 'own/file', content: 'mine\n' });
  await expect(sandbox.removePath({ path: 'own' })).rejects.toMatchObject({ code: 'IS_A_DIRECTORY' });
  await expect(sandbox.removePath({ path: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await sandbox.removePath({ path: 'none', force: true });
  expect(await other.handle.sandbox.readTextFile({ path: 'own/file' })).toBeNull();
  await one.handle.onSandboxStop();
  const again = await environment.resume({}, artifact, JSON.parse(JSON.stringify(one.state)));
  expect(await again.sandbox.readTextFile({ path: 'own/file' })).toBe('mine\n');
  await again.sandbox.removePath({ path: 'own', recursive: true });
  await again.onRuntimeShutdown();
  for (const { state } of [one, one, other]) await environment.onSessionEnd({}, artifact, state);
  expect((await litterbox.list()).map(({ name }) => name)).toEqual([artifact.sandbox]);
  await litterbox.delete(artifact.sandbox, { force: true });
  await litterbox.create({ name: artifact.sandbox, workdir: '/workspace' });
  await expect(environment.start({}, undefined, artifact)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('work that nobody took stays where a person reviews; a failed preparation leaves nothing', async () => {
  await using litterbox = memoryLitterbox({ files: { a: 'one\n' } });
  const environment = eveSandbox(litterbox).environment({ keepsWork: true });
  const artifact = await environment.prepare({ resources: {} });
  const { handle, state } = await environment.start({}, undefined, artifact);
  await handle.sandbox.run({ command: 'echo two >>a' });
  await environment.onSessionEnd({}, artifact, state);
  expect((await litterbox.list()).map((one) => one.state)).toEqual(['stopped', 'stopped']);
  await handle.onSandboxDelete(); // its author says so
  expect((await litterbox.list()).map(({ name }) => name)).toEqual([artifact.sandbox]);
  const failing = eveSandbox(litterbox).environment({ prepare: () => Promise.reject(new Error('mine')) });
  await expect(failing.prepare({ resources: {} })).rejects.toThrow('mine');
  expect(await litterbox.list()).toHaveLength(1);
});
