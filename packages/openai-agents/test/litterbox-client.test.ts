import { expect, test } from '@jest/globals';
import { run, setTracingDisabled } from '@openai/agents-core';
import { Capabilities, Manifest, SandboxAgent, type SandboxClientCreateArgs } from '@openai/agents-core/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import type { CreateInput } from 'litterbox';
import { memoryLitterbox } from 'litterbox/testing';
import { litterboxClient, type LitterboxSession } from '../src/index.ts';

setTracingDisabled(true);

const opened = async (
  client: ReturnType<typeof litterboxClient>,
  args?: SandboxClientCreateArgs<CreateInput & Record<string, unknown>>,
) => (await client.create?.(args)) as LitterboxSession;

test('an agent of the SDK works in a sandbox, and the person merges', async () => {
  await using litterbox = memoryLitterbox({ files: { 'greet.sh': 'echo Helo\n' } });
  const client = litterboxClient(litterbox, { name: 'fix' });
  const patch = {
    type: 'apply_patch_call' as const,
    callId: '2',
    status: 'completed' as const,
    operation: { type: 'update_file' as const, path: 'greet.sh', diff: '@@\n-echo Helo\n+echo Hello' },
  };
  const model = new ScriptedModel([
    [functionCall('exec_command', { cmd: 'sh greet.sh; cat note; exit 3', tty: true }, { callId: '1' })],
    [patch],
    [functionCall('exec_command', { cmd: 'sh greet.sh; echo $MODE', workdir: '/src' }, { callId: '3' })],
    [assistantMessage('Mended.')],
  ]);
  const agent = new SandboxAgent({
    name: 'Mender',
    model,
    capabilities: Capabilities.default(),
    defaultManifest: { entries: { note: { type: 'file', content: 'noted\n' } }, environment: { MODE: 'fast' } },
  });
  const { finalOutput } = await run(agent, 'Mend the greeting', { sandbox: { client } });
  expect(finalOutput).toBe('Mended.');
  const answers = JSON.stringify(model.lastCall?.request.input);
  expect(answers).toContain('Process exited with code 3');
  expect(answers).toContain('Helo\\nnoted\\n[litterbox: There is no terminal here');
  expect(answers).toContain('Hello\\nfast');
  const sandbox = await litterbox.open('fix');
  expect((await sandbox.log()).map(({ subject }) => subject)).toContain('The manifest');
  await sandbox.merge();
  expect(litterbox.repository.read('greet.sh')).toBe('echo Hello\n');
});

test('a session is found again by its state, which is JSON and holds no values of variables', async () => {
  await using litterbox = memoryLitterbox({ files: { a: 'a\n' } });
  const client = litterboxClient(litterbox);
  const manifest = new Manifest({ environment: { TOKEN: 'hunter2' } });
  const session = await opened(client, { manifest, options: { name: 'kept' } });
  expect(session.state.manifest.root).toBe('/src');
  expect(await session.running?.()).toBe(true);
  await session.exec?.({ cmd: 'echo $TOKEN >b' });
  await session.close?.();
  const state = JSON.parse(JSON.stringify(await client.serializeSessionState?.(session.state))) as Record<
    string,
    unknown
  >;
  expect(JSON.stringify(state)).not.toContain('hunter2');
  const restored = await client.deserializeSessionState?.(state);
  if (!restored) throw new Error('There is no state.');
  const again = (await client.resume?.(restored)) as LitterboxSession;
  expect(Buffer.from((await again.readFile?.({ path: 'b', maxBytes: 4 })) ?? '').toString()).toBe('hunt');
  await expect(client.delete?.(restored)).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
  await litterbox.delete('kept', { force: true });
  await litterbox.create({ name: 'kept' });
  await expect(client.resume?.(restored)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
  await expect(client.deserializeSessionState?.({ manifest: {} })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('files are looked at as the SDK asks, and written by entries', async () => {
  await using litterbox = memoryLitterbox({ files: { 'below/a': 'a\n' } });
  const session = await opened(litterboxClient(litterbox));
  const entries = { docs: { type: 'dir' as const, children: { x: { type: 'file' as const, content: 'x' } } } };
  await session.applyManifest?.(new Manifest({ entries }));
  await session.materializeEntry?.({ path: 'y', entry: { type: 'file', content: Uint8Array.of(1) } });
  expect(await session.readFile?.({ path: 'y' })).toEqual(Uint8Array.of(1));
  expect(await session.pathExists?.('docs/x')).toBe(true);
  expect(await session.directoryExists?.('docs')).toBe(true);
  expect(await session.directoryExists?.('docs/x')).toBe(false);
  expect(await session.pathExists?.('absent')).toBe(false);
  expect(await session.listDir?.({ path: 'below' })).toEqual([{ name: 'a', path: 'below/a', type: 'file' }]);
  const editor = session.createEditor?.();
  await editor?.createFile({ type: 'create_file', path: 'new', diff: '+one\n+two' });
  await expect(editor?.createFile({ type: 'create_file', path: 'new', diff: '+x' })).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await editor?.updateFile({
    type: 'update_file',
    path: 'new',
    diff: '@@\n one\n-two\n+three',
    moveTo: 'moved',
  } as never);
  expect(Buffer.from((await session.readFile?.({ path: 'moved' })) ?? '').toString()).toMatch(/^one\nthree\n?$/);
  expect(await session.pathExists?.('new')).toBe(false);
  await editor?.deleteFile({ type: 'delete_file', path: 'moved' });
  expect(await session.pathExists?.('moved')).toBe(false);
});

test('nothing is left out in silence: users, mounts, snapshots and other users are refused, and no sandbox stays', async () => {
  await using litterbox = memoryLitterbox();
  const client = litterboxClient(litterbox);
  const wrong = [
    { manifest: new Manifest({ users: ['somebody'] as never }) },
    { manifest: new Manifest({ entries: { repo: { type: 'git_repo', repo: 'a/b' } } }) },
    { snapshot: { type: 'local' } },
  ];
  for (const args of wrong) await expect(client.create?.(args)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  const hidden = new Manifest({
    entries: { '.git': { type: 'dir', children: { config: { type: 'file', content: '' } } } },
  });
  await expect(client.create?.({ manifest: hidden })).rejects.toMatchObject({ code: 'PATH_GIT_DIR' });
  expect(await litterbox.list()).toEqual([]);
  const session = await opened(client);
  await expect(session.exec?.({ cmd: 'id', runAs: 'root' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(session.readFile?.({ path: 'a', runAs: 'root' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});
