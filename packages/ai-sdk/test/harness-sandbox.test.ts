import { expect, test } from '@jest/globals';
import type { HarnessV1, HarnessV1NetworkSandboxSession, HarnessV1StartOptions } from '@ai-sdk/harness';
import { HarnessAgent } from '@ai-sdk/harness/agent';
import { memoryLitterbox } from 'litterbox/testing';
import { harnessSandbox } from '../src/index.ts';

/** An agent of the harness that only starts and ends: what it was started with is in `starts`. */
function standIn(starts: HarnessV1StartOptions[] = []): HarnessV1 {
  const state = {
    type: 'resume-session',
    harnessId: 'stand-in',
    specificationVersion: 'harness-v1',
    data: {},
  } as const;
  const none = () => Promise.reject(new Error('It takes no prompt.'));
  return {
    specificationVersion: 'harness-v1',
    harnessId: 'stand-in',
    builtinTools: {},
    getBootstrap: async () => ({
      harnessId: 'stand-in',
      bootstrapDir: '/tmp/stand-in',
      files: [{ path: '/tmp/stand-in/bridge.sh', content: 'echo bridge\n' }],
      commands: [{ command: 'sh bridge.sh >made' }],
    }),
    async doStart(options) {
      starts.push(options);
      return {
        sessionId: options.sessionId,
        isResume: options.resumeFrom !== undefined,
        doPromptTurn: none,
        doContinueTurn: none,
        doCompact: none,
        doSuspendTurn: none,
        doDetach: async () => state,
        doStop: async () => state,
        doDestroy: async () => {},
      };
    },
  };
}

const networkOf = (start: HarnessV1StartOptions | undefined) => start?.sandboxSession as HarnessV1NetworkSandboxSession;

test('an agent of the harness is prepared, works, stops, and goes on in the same sandbox', async () => {
  await using litterbox = memoryLitterbox({ files: { 'greet.sh': 'echo Helo\n' } });
  const starts: HarnessV1StartOptions[] = [];
  const agent = new HarnessAgent({
    harness: standIn(starts),
    sandbox: harnessSandbox(litterbox, { labels: { of: 'test' } }),
    sandboxConfig: { workDir: 'project' },
  });
  const session = await agent.createSession({ sessionId: 'one' });
  const [start] = starts;
  const sandbox = networkOf(start);
  expect([sandbox.id, start?.sessionWorkDir]).toEqual(['session-one', '/playground/project']);
  expect((await sandbox.run({ command: 'pwd; cd project && pwd -P' })).stdout).toBe('/playground\n/src\n');
  expect(await sandbox.readTextFile({ path: '/tmp/stand-in/made' })).toBe('bridge\n');
  await sandbox.run({ command: 'echo "echo Hello" >greet.sh', workingDirectory: 'project' });
  await sandbox.writeTextFile({ path: 'own', content: 'no work\n' });
  expect('stop' in sandbox.restricted()).toBe(false);
  expect(await sandbox.getPortEndpoint({ port: 4000, protocol: 'ws' })).toEqual({ url: 'ws://127.0.0.1:40000' });
  expect(await sandbox.getPortUrl({ port: 4000 })).toBe('http://127.0.0.1:40000');
  await expect(sandbox.getPortUrl({ port: 4000, protocol: 'https' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(agent.createSession({ sessionId: 'one' })).rejects.toMatchObject({ code: 'SANDBOX_EXISTS' });
  const resumeFrom = await session.stop();
  expect((await litterbox.list()).map(({ name, state }) => [name, state])).toEqual([['session-one', 'stopped']]);

  const again = await agent.createSession({ sessionId: 'one', resumeFrom });
  expect(await networkOf(starts[1]).readTextFile({ path: 'project/greet.sh' })).toBe('echo Hello\n');
  await again.destroy();
  expect((await litterbox.list()).map(({ state, labels }) => [state, labels])).toEqual([['stopped', { of: 'test' }]]); // for a person
  expect((await litterbox.changes('session-one')).map(({ path }) => path)).toEqual(['greet.sh']);
  await litterbox.setRunState('session-one', 'ready');
  await litterbox.merge('session-one');
  expect(litterbox.repository.read('greet.sh')).toBe('echo Hello\n');
  await networkOf(starts[1]).destroy();
  await networkOf(starts[1]).stop();
});

test("nothing is left of what failed, was nobody's, or is not to be kept", async () => {
  await using litterbox = memoryLitterbox();
  const provider = harnessSandbox(litterbox, { keepsWork: false });
  const failing = provider.createSession({ sessionId: 'x', onFirstCreate: () => Promise.reject(new Error('mine')) });
  await expect(failing).rejects.toThrow('mine');
  const nobodys = await provider.createSession();
  await nobodys.run({ command: 'echo work >project/work' });
  await nobodys.stop();
  const one = await provider.createSession({
    sessionId: 'A long ID with spaces, longer than the name of a sandbox is',
  });
  await one.run({ command: 'echo work >project/work' });
  expect(one.id).toMatch(/^session-[0-9a-f]{32}$/);
  await one.destroy();
  expect(await litterbox.list()).toEqual([]);
  await expect(provider.resumeSession?.({ sessionId: 'x' })).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});
