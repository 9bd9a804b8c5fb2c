// An agent of the OpenAI Agents SDK works in a sandbox. Run it by: node examples/openai-agents/main.mjs
// The SDK's scripted model stands in for a real one, so that it needs no network and no key.
import assert from 'node:assert/strict';
import { litterboxClient } from '@litterbox/openai-agents';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { run, setTracingDisabled } from '@openai/agents-core';
import { SandboxAgent } from '@openai/agents-core/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

setTracingDisabled(true);
await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
await using litterbox = createLitterbox({
  repo: scratch.repo,
  stateDirectory: scratch.stateDirectory,
  providers: [overlayfs],
});

const diff = '@@\n-echo "Helo, $1"\n+echo "Hello, $1"';
const model = new ScriptedModel([
  [
    {
      type: 'apply_patch_call',
      callId: '1',
      status: 'completed',
      operation: { type: 'update_file', path: 'greet.sh', diff },
    },
  ],
  [functionCall('exec_command', { cmd: 'sh greet.sh Ada' }, { callId: '2' })],
  [assistantMessage('The greeting is spelled right.')],
]);
const client = litterboxClient(litterbox, { name: 'fix-greeting' });
const { finalOutput } = await run(new SandboxAgent({ name: 'Speller', model }), 'Spell the greeting right', {
  sandbox: { client },
});
assert.equal(finalOutput, 'The greeting is spelled right.');
assert.match(JSON.stringify(model.lastCall.request.input), /Output:\\nHello, Ada/);

const sandbox = await litterbox.open('fix-greeting');
console.log(await sandbox.diff());
const { outcome } = await sandbox.merge({ message: 'Spell the greeting' });
assert.equal(outcome, 'committed');
assert.equal(scratch.git('show', 'HEAD:greet.sh'), 'echo "Hello, $1"');
