// Runs, reads and writes in one sandbox in turn, and says how much memory this program holds early and late.
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';

export interface MemoryJob {
  readonly repo: string;
  readonly stateDirectory: string;
  /** Calls after which it reports. */
  readonly early: number;
  readonly late: number;
}

export interface MemoryReport {
  readonly residentMebibytes: number;
  readonly heapMebibytes: number;
}

const { repo, stateDirectory, early, late } = JSON.parse(process.argv[2] ?? '') as MemoryJob;
await using litterbox = createLitterbox({ repo, providers: [overlayfs], stateDirectory });
await using sandbox = await litterbox.create({ name: 'memory' });
for (let call = 0; call < late; call += 3) {
  await sandbox.run(['true']);
  await sandbox.files.write('notes/memory.txt', `${call}\n`);
  await sandbox.files.read('notes/memory.txt');
  if (call < early && call + 3 >= early) report();
}
report();
await litterbox.delete('memory', { force: true });
process.disconnect();

function report(): void {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const message: MemoryReport = { residentMebibytes: rss / 2 ** 20, heapMebibytes: heapUsed / 2 ** 20 };
  process.send?.(message);
}
