// Claude, by the Claude Agent SDK, with its hands in a sandbox: its commands and files are there, and your files stay as they are.
// Run it by: node examples/claude-agent-sdk/main.mjs, where `claude` is in your PATH and @anthropic-ai/claude-agent-sdk can be imported.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { handsFor } from '@litterbox/agents';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
const { repo, stateDirectory } = scratch;
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs] });
await using sandbox = await litterbox.create({ name: 'fix-greeting' });

{
  await using hands = await handsFor(sandbox, 'claude', { stateDirectory });
  const prompt = 'greet.sh greets with a misspelt word. Correct it with sed, and say what you did.';
  for await (const message of query({ prompt, options: { ...hands.options } }))
    if (message.type === 'result') console.log(message.result);
}

assert.equal(await readFile(`${repo}/greet.sh`, 'utf8'), 'echo "Helo, $1"\n');
assert.equal(Buffer.from(await sandbox.files.read('greet.sh')).toString(), 'echo "Hello, $1"\n');
for (const { number, subject } of await sandbox.log()) console.log(number, subject);
console.log(await sandbox.diff());
await litterbox.delete('fix-greeting', { force: true });
