// A program of its own for the tests with several processes: node client.ts REPOSITORY STATE SANDBOX COUNT WHAT
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from '../src/index.ts';

const [repo = '', stateDirectory = '', name = '', count = '1', what = 'write'] = process.argv.slice(2);
const litterbox = createLitterbox({ repo, providers: [overlayfs], stateDirectory });
const sandbox = await litterbox.open(name);
for (let index = 0; index < Number(count); index += 1) {
  if (what === 'write') {
    const { revision } = await sandbox.files.write(`${process.pid}-${index}`, `${index}\n`, { waitMs: 120_000 });
    process.stdout.write(`${revision?.commit}\n`);
  } else {
    await sandbox.run('echo unrecorded >left-over; echo written; sleep 1000', {
      onOutput: ({ bytes }) => void process.stdout.write(bytes),
    });
  }
}
await litterbox[Symbol.asyncDispose]();
