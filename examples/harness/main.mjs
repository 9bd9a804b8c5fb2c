// An agent of the AI SDK's harness runs in a sandbox. Run it by: node examples/harness/main.mjs
// A small agent stands in for that of @ai-sdk/harness-claude-code and its sisters: a server inside, which the harness reaches by a port.
import assert from 'node:assert/strict';
import { HarnessAgent } from '@ai-sdk/harness/agent';
import { harnessSandbox } from '@litterbox/ai-sdk';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

const BRIDGE = `import { execSync } from 'node:child_process';
import { createServer } from 'node:http';
createServer((request, response) => {
  execSync("sed -i 's/Helo/Hello/' greet.sh");
  response.end(execSync('sh greet.sh Ada'));
}).listen(4000, '127.0.0.1', () => console.log('ready'));
`;
const state = { type: 'resume-session', harnessId: 'speller', specificationVersion: 'harness-v1', data: {} };
const none = () => Promise.reject(new Error('It needs no more.'));

/** @type {any} */
const harness = {
  specificationVersion: 'harness-v1',
  harnessId: 'speller',
  builtinTools: {},
  async getBootstrap() {
    return {
      harnessId: 'speller',
      bootstrapDir: '/tmp/speller',
      files: [{ path: '/tmp/speller/bridge.mjs', content: BRIDGE }],
      commands: [],
    };
  },
  async doStart({ sessionId, sessionWorkDir, sandboxSession, resumeFrom }) {
    const command = `cd ${sessionWorkDir} && exec node /tmp/speller/bridge.mjs`;
    const bridge = await sandboxSession.restricted().spawn({ command });
    for await (const bytes of bridge.stdout) if (String(Buffer.from(bytes)).includes('ready')) break;
    const { url } = await sandboxSession.getPortEndpoint({ port: sandboxSession.ports[0] });
    return {
      sessionId,
      isResume: resumeFrom !== undefined,
      async doPromptTurn({ emit }) {
        const text = await (await fetch(url)).text();
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
        const finishReason = { unified: 'stop', raw: undefined };
        emit({ type: 'stream-start', warnings: [] });
        emit({ type: 'text-start', id: '1' });
        emit({ type: 'text-delta', id: '1', delta: text });
        emit({ type: 'text-end', id: '1' });
        emit({ type: 'finish-step', finishReason, usage });
        emit({ type: 'finish', finishReason, totalUsage: usage });
        return { done: Promise.resolve(), submitToolResult: none };
      },
      doContinueTurn: none,
      doCompact: none,
      doSuspendTurn: none,
      doDetach: async () => state,
      doStop: async () => state,
      doDestroy: async () => await bridge.kill(),
    };
  },
};

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
const { repo, stateDirectory } = scratch;
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs] });
const agent = new HarnessAgent({
  harness,
  sandbox: harnessSandbox(litterbox),
  sandboxConfig: { workDir: 'project' }, // the workspace
});
const session = await agent.createSession({ sessionId: 'greeting' });
const { text } = await agent.generate({ session, prompt: 'Spell the greeting right' });
assert.equal(text, 'Hello, Ada\n');
await session.destroy(); // stops the sandbox: it holds work that nobody took

console.log(await (await litterbox.open('session-greeting')).diff());
assert.equal((await litterbox.merge('session-greeting', { message: 'Spell the greeting' })).outcome, 'committed');
assert.equal(scratch.git('show', 'HEAD:greet.sh'), 'echo "Hello, $1"');
