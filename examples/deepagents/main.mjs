// An agent of deepagents works in a sandbox. Run it by: npm ci --prefix examples && node examples/deepagents/main.mjs
// A scripted model stands in for a real one, so that it needs no network and no key.
import assert from 'node:assert/strict';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { BaseSandbox, createDeepAgent } from 'deepagents';
import { createLitterbox, isLitterboxError } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

const ERRORS = { NOT_FOUND: 'file_not_found', IS_A_DIRECTORY: 'is_directory', PERMISSION_DENIED: 'permission_denied' };
const codeOf = (error) => {
  if (isLitterboxError(error)) return ERRORS[error.code] ?? 'invalid_path';
  throw error;
};

/** The backend: three members, of which the SDK makes ls, read, grep, glob and edit. */
class LitterboxBackend extends BaseSandbox {
  constructor(sandbox) {
    super();
    this.id = sandbox.id;
    this.sandbox = sandbox;
  }
  async execute(command) {
    const { stdout, exitCode, dropped, timedOut, hints } = await this.sandbox.run(command, { mergeOutput: true });
    const notes = [...(timedOut ? ['Its time limit ended it.'] : []), ...hints].map((note) => `\n[litterbox: ${note}]`);
    return { output: stdout.toWellFormed() + notes.join(''), exitCode, truncated: dropped.stdout > 0 };
  }
  async uploadFiles(files) {
    const one = ([path, content]) => this.sandbox.files.write(path, content).then(() => null, codeOf);
    const results = [];
    for (const file of files) results.push({ path: file[0], error: await one(file) });
    return results;
  }
  async downloadFiles(paths) {
    const one = async (path) => ({ path, content: await this.sandbox.files.read(path), error: null });
    return await Promise.all(
      paths.map((path) => one(path).catch((error) => ({ path, content: null, error: codeOf(error) }))),
    );
  }
}

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
const { repo, stateDirectory } = scratch;
await using litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs] });
const sandbox = await litterbox.create({ name: 'fix-greeting', workdir: '/work' });

const call = (id, name, args) => ({ id, name, args, type: 'tool_call' });
const model = fakeModel()
  .respondWithTools([call('1', 'read_file', { file_path: '/work/greet.sh' })])
  .respondWithTools([call('2', 'edit_file', { file_path: '/work/greet.sh', old_string: 'Helo', new_string: 'Hello' })])
  .respondWithTools([call('3', 'execute', { command: 'sh greet.sh Ada; exit 3' })])
  .respond(new AIMessage('The greeting is spelled right.'));
const agent = createDeepAgent({
  model,
  backend: new LitterboxBackend(sandbox),
  systemPrompt: await sandbox.describe(),
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Spell the greeting right' }] });

const answers = messages.filter((one) => one.getType() === 'tool').map(({ content }) => JSON.stringify(content));
assert.match(answers[0], /Helo, \$1/);
assert.match(answers[2], /Hello, Ada[^]*3/);
assert.equal(messages.at(-1).content, 'The greeting is spelled right.');
console.log(await sandbox.diff());
assert.equal((await sandbox.merge({ message: 'Spell the greeting' })).outcome, 'committed');
assert.equal(scratch.git('show', 'HEAD:greet.sh'), 'echo "Hello, $1"');
