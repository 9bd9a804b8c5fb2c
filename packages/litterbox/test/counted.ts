// A program of its own for the test that counts programs: node counted.ts REPOSITORY STATE
// Between the steps it asks for a file that is not there, which who traces it sees.
import { accessSync } from 'node:fs';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from '../src/index.ts';

const [repo = '', stateDirectory = ''] = process.argv.slice(2);
const litterbox = createLitterbox({ repo, providers: [overlayfs], stateDirectory });

async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  mark(`begin ${name}`);
  const result = await work();
  mark(`end ${name}`);
  return result;
}

function mark(words: string): void {
  try {
    accessSync(`/litterbox-step ${words}`);
  } catch {
    // which is all that it is for
  }
}

await litterbox.create({ name: 'first' }); // what is found out of the machine is known from then on
await (await litterbox.open('first')).run(['true']);
const sandbox = await step('create to first command', async () => {
  const created = await litterbox.create({ name: 'work' });
  await created.run(['true']);
  return created;
});
await step('run', async () => await sandbox.run(['true']));
await step('list', async () => await litterbox.list()); // nothing was changed yet: there is nothing to ask git
await sandbox.files.write('src/a.txt', 'one\n');
await sandbox.files.write('src/a.txt', 'two\n');
await step('write', async () => await sandbox.files.write('src/a.txt', 'three\n'));
await step('snapshot', async () => await sandbox.snapshot({ label: 'one' }));
await step('restore snapshot', async () => await sandbox.restoreSnapshot('one'));
await step('delete', async () => await litterbox.delete('first', { force: true }));
// The last one: behind the third sandbox of a program the session program is started ahead for the next.
await step('fork', async () => await sandbox.fork({ name: 'copy' }));
await litterbox[Symbol.asyncDispose]();
