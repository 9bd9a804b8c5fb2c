// A test of a program that uses Litterbox, without a machine. Run it by: node examples/testing/main.mjs
import assert from 'node:assert/strict';
import { memoryLitterbox } from 'litterbox/testing';

/** The program under test: it mends what a check finds, and gives the work to a person. */
async function mend(litterbox) {
  await using sandbox = await litterbox.create({ name: 'mend' });
  const { exitCode, stdout } = await sandbox.run('npm test');
  if (exitCode !== 0) await sandbox.files.write('todo.txt', stdout);
  await sandbox.merge({ message: 'Say what is to be done' });
}

await using litterbox = memoryLitterbox({
  files: { 'package.json': '{}\n' },
  run({ command, files }) {
    if (command === 'npm test') return { exitCode: 1, stdout: `${files.list().length} file, 0 tests\n` };
  },
});
await mend(litterbox);
assert.equal(litterbox.repository.read('todo.txt'), '1 file, 0 tests\n');
assert.deepEqual(await litterbox.list(), []);
