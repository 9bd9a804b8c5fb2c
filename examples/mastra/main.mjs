// An agent of Mastra works in a sandbox. Run it by: npm ci --prefix examples && node examples/mastra/main.mjs
// A scripted model stands in for a real one, so that it needs no network and no key.
import assert from 'node:assert/strict';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { Agent } from '@mastra/core/agent';
import { MastraSandbox, Workspace } from '@mastra/core/workspace';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { createLitterbox, LitterboxError } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

/** The sandbox of a workspace. It is the program's own: what Mastra stops goes on when Mastra starts it again. */
class LitterboxSandbox extends MastraSandbox {
  name = 'Litterbox';
  provider = 'litterbox';
  status = 'pending';
  networking = { getPortUrl: async (port) => await this.sandbox.url(port) };
  constructor(sandbox, instructions) {
    super({ name: 'Litterbox' });
    this.id = sandbox.id;
    this.sandbox = sandbox;
    this.getInstructions = () => instructions;
  }
  async start() {
    await this.sandbox.setRunState('ready');
  }
  async stop() {
    await this.sandbox.setRunState('stopped');
  }
  async destroy() {
    await this.sandbox.delete(); // work that nobody took is refused, and stays
  }
  async executeCommand(command, args = [], { cwd, env, timeout, onStdout, onStderr, abortSignal } = {}) {
    await this.ensureRunning();
    const ran = await this.sandbox.run(args.length === 0 ? command : [command, ...args], {
      ...(cwd && { cwd }),
      ...(env && { env }),
      ...(timeout && { timeoutMs: timeout }),
      ...(abortSignal && { signal: abortSignal }),
      ...(onStdout && { onStdout }),
      ...(onStderr && { onStderr }),
    });
    const { exitCode, stdout, stderr, durationMs, timedOut, dropped } = ran;
    return {
      success: exitCode === 0,
      exitCode,
      stdout,
      stderr,
      timedOut,
      executionTimeMs: durationMs,
      stdoutDroppedBytes: dropped.stdout,
      stderrDroppedBytes: dropped.stderr,
    };
  }
  async writeFiles(files) {
    if (files.some(({ mode }) => mode !== undefined))
      throw new LitterboxError('UNSUPPORTED', 'A file is written without a mode.', {
        operation: 'mastra.write-files',
        hint: 'Set it by chmod in a command.',
      });
    await this.sandbox.files.upload(Object.fromEntries(files.map(({ path, content }) => [path, content])));
  }
}

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
const { repo, stateDirectory } = scratch;
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs] });
const sandbox = await litterbox.create({ name: 'fix-greeting' });

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const step = (parts, unified) => ({
  stream: simulateReadableStream({
    chunks: [
      { type: 'stream-start', warnings: [] },
      ...parts,
      { type: 'finish', finishReason: { unified, raw: undefined }, usage },
    ],
  }),
});
const call = (toolCallId, command) => {
  const toolName = 'mastra_workspace_execute_command';
  return step([{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify({ command }) }], 'tool-calls');
};
const text = 'The greeting is spelled right.';
const model = new MockLanguageModelV3({
  doStream: [
    call('1', "sed -i 's/Helo/Hello/' greet.sh"),
    call('2', 'sh greet.sh Ada; exit 3'),
    step(
      [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: text },
        { type: 'text-end', id: '1' },
      ],
      'stop',
    ),
  ],
});
const agent = new Agent({
  id: 'speller',
  name: 'Speller',
  instructions: 'Mend what you are asked to.',
  model,
  workspace: new Workspace({ sandbox: new LitterboxSandbox(sandbox, await sandbox.describe()) }),
});
const answer = await agent.stream('Spell the greeting right', { maxSteps: 5 });
assert.equal(await answer.text, text);
const prompts = JSON.stringify(model.doStreamCalls.at(-1).prompt);
assert.match(prompts, /Hello, Ada/);
assert.match(prompts, /disposable Linux sandbox/);

console.log(await sandbox.diff());
assert.equal((await sandbox.merge({ message: 'Spell the greeting' })).outcome, 'committed');
assert.equal(scratch.git('show', 'HEAD:greet.sh'), 'echo "Hello, $1"');
