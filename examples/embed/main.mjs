// Litterbox from a program: one sandbox, one task, one merge. Run it by: node examples/embed/main.mjs
// The lines of the README's example stand here in their order, with checks in between.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

await using scratch = await scratchRepository({ 'greet.sh': 'echo "Helo, $1"\n' });
const { repo, git } = scratch;
// Your own program can leave this out; the state then lies below ~/.local/state/litterbox.
process.env.LITTERBOX_HOME = scratch.stateDirectory;

process.chdir(repo);

await using litterbox = createLitterbox({ providers: [overlayfs] }); // in the repository of the current directory
await using sandbox = await litterbox.create({ name: 'fix-greeting' });

// A command that fails is a result, not an error.
const { exitCode, stdout } = await sandbox.run('sh greet.sh Ada | grep Hello');
assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });

// Each change becomes one revision. A command that changes nothing makes none.
await sandbox.files.write('greet.sh', 'echo "Hello, $1"\n', { message: 'Spell the greeting' });
await sandbox.run('sh greet.sh Ada > greeting.txt');
assert.equal((await sandbox.run(['true'])).recorded.revision, undefined);
assert.deepEqual(
  (await sandbox.log()).map(({ number, subject }) => `${number} ${subject}`),
  ['2 run: sh greet.sh Ada > greeting.txt', '1 Spell the greeting'],
);

// Until here the work tree of the person is as it was.
assert.equal(await readFile(`${repo}/greet.sh`, 'utf8'), 'echo "Helo, $1"\n');
assert.equal(git('status', '--porcelain'), '');
for (const { number, subject } of await sandbox.log()) console.log(number, subject);
console.log(await sandbox.diff());

// The person takes it. Merging deletes the sandbox.
const { outcome, isDeleted } = await litterbox.merge('fix-greeting', { message: 'Fix the greeting' });
assert.deepEqual({ outcome, isDeleted }, { outcome: 'committed', isDeleted: true });
assert.equal(await readFile(`${repo}/greet.sh`, 'utf8'), 'echo "Hello, $1"\n');
assert.equal(await readFile(`${repo}/greeting.txt`, 'utf8'), 'Hello, Ada\n');
assert.equal(git('status', '--porcelain'), '');
assert.deepEqual(await litterbox.list(), []);
console.log(git('log', '--oneline', '--stat', '-1'));
