// The AI SDK works in a sandbox. Run it by: node examples/ai-sdk/main.mjs
// A scripted model stands in for a real one, so that it needs no network and no key.
import assert from 'node:assert/strict';
import { sandboxSession } from '@litterbox/ai-sdk';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
await using litterbox = createLitterbox({
  repo: scratch.repo,
  stateDirectory: scratch.stateDirectory,
  providers: [overlayfs],
});
const sandbox = await litterbox.create({ name: 'fix-greeting' });
const session = await sandboxSession(sandbox);

const bash = tool({
  description: 'Run a shell command in the sandbox',
  inputSchema: jsonSchema({ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }),
  execute: async ({ command }, { experimental_sandbox, abortSignal }) =>
    await experimental_sandbox.run({ command, abortSignal }),
});

const step = (content, unified) => ({
  content: [content],
  finishReason: { unified, raw: undefined },
  usage: { inputTokens: { total: 0 }, outputTokens: { total: 0 } },
  warnings: [],
});
const call = (toolCallId, command) =>
  step({ type: 'tool-call', toolCallId, toolName: 'bash', input: JSON.stringify({ command }) }, 'tool-calls');
const model = new MockLanguageModelV4({
  doGenerate: [
    call('1', "sed -i 's/Helo/Hello/' greet.sh"),
    call('2', 'sh greet.sh Ada'),
    step({ type: 'text', text: 'The greeting is spelled right.' }, 'stop'),
  ],
});

const { text, steps } = await generateText({
  model,
  tools: { bash },
  experimental_sandbox: session,
  instructions: session.description,
  prompt: 'Spell the greeting right',
  stopWhen: isStepCount(5),
});
assert.equal(text, 'The greeting is spelled right.');
assert.equal(steps[1].toolResults[0].output.stdout, 'Hello, Ada\n');

console.log(await sandbox.diff());
const { outcome } = await sandbox.merge({ message: 'Spell the greeting' });
assert.equal(outcome, 'committed');
assert.equal(scratch.git('show', 'HEAD:greet.sh'), 'echo "Hello, $1"');
