// Three agents on one repository at the same time. Two merge; the third collides, and plan() says so before anything changes.
// Run it by: node examples/parallel-agents/main.mjs
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import { scratchRepository } from '../scratch-repository.mjs';

const lines = (...words) => words.map((word) => `${word}\n`).join('');
await using scratch = await scratchRepository({
  'price.txt': lines('net 10', 'tax 2', 'gross 12'),
  'notes.txt': lines('none'),
});
const { repo, stateDirectory, git } = scratch;
await using litterbox = createLitterbox({ repo, providers: [overlayfs], stateDirectory });

// What an agent would do, as one shell command each. They run at the same time and do not see each other.
const tasks = {
  'raise-tax': `sed -i 's/^tax.*/tax 3/; s/^gross.*/gross 13/' price.txt`,
  'write-notes': `echo 'see price.txt' > notes.txt`,
  'lower-tax': `sed -i 's/^tax.*/tax 1/; s/^gross.*/gross 11/' price.txt`,
};
await Promise.all(
  Object.entries(tasks).map(async ([name, command]) => {
    await using sandbox = await litterbox.create({ name });
    const { exitCode, recorded } = await sandbox.run(command);
    assert.equal(exitCode, 0);
    assert.equal(recorded.changedFiles, 1);
  }),
);
assert.deepEqual((await litterbox.list()).map(({ name, state }) => `${name} ${state}`).sort(), [
  'lower-tax ready',
  'raise-tax ready',
  'write-notes ready',
]);

// All three fit on the branch as it is now. Merging one may change that.
const planOf = (sandbox) => litterbox.plan({ sandbox, integration: 'merge' });
for (const name of Object.keys(tasks)) assert.deepEqual((await planOf(name)).conflicts, []);

for (const name of ['raise-tax', 'write-notes']) {
  const { outcome, isDeleted } = await litterbox.merge(name, { message: `Merge ${name}` });
  assert.deepEqual({ outcome, isDeleted }, { outcome: 'committed', isDeleted: true });
}
assert.equal(await readFile(`${repo}/price.txt`, 'utf8'), lines('net 10', 'tax 3', 'gross 13'));
assert.equal(await readFile(`${repo}/notes.txt`, 'utf8'), lines('see price.txt'));

// The third one changed the same lines. A plan is computed, nothing is touched.
const head = git('rev-parse', 'HEAD');
const plan = await planOf('lower-tax');
assert.deepEqual(plan.conflicts, ['price.txt']);
assert.equal(git('rev-parse', 'HEAD'), head);
assert.equal(git('status', '--porcelain'), '');
console.log(`lower-tax conflicts in ${plan.conflicts.join(', ')}`);

// Here the person lets it go. Deleting work that is in no branch has to be said twice.
await assert.rejects(litterbox.delete('lower-tax'), { code: 'UNMERGED_WORK' });
await litterbox.delete('lower-tax', { force: true });
assert.deepEqual(await litterbox.list(), []);
console.log(git('log', '--oneline', '--graph'));
