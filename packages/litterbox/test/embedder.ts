// A program that embeds the library as it is published and sets no flag of V8: node embedder.ts REPOSITORY STATE many|large
// Does what there is to do with 80,000 files, or with one of 500 MB, one thing after the other, and says after each how much memory it held at most so far.
import { readFileSync } from 'node:fs';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';

const MANY = `i=0; while [ $i -lt 400 ]; do
  mkdir d$i; j=0; while [ $j -lt 200 ]; do echo "file $j of $i" >d$i/f$j; j=$((j + 1)); done; i=$((i + 1)); done`;
const LONG = { timeoutMs: 600_000 };

const [repo = '', stateDirectory = '', what = 'many'] = process.argv.slice(2);
const litterbox = createLitterbox({ repo, providers: [overlayfs], stateDirectory });

async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  const result = await work();
  // Not from getrusage, whose figure a program inherits from the one that started it.
  const peakKiB = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  const durationMs = Math.round(performance.now() - startMs);
  process.stdout.write(`${JSON.stringify({ step: name, durationMs, peakKiB })}\n`);
  return result;
}

const sandbox = await step('create', () => litterbox.create({ name: what }));
if (what === 'many') {
  await step('record', () => sandbox.run(MANY, LONG));
  await step('restore nothing', () => litterbox.restore(what, '0'));
  await step('restore all', () => litterbox.restore(what, '1'));
  await step('changes', () => litterbox.changes(what));
  await step('plan', () => litterbox.plan({ sandbox: what, integration: 'merge' }));
} else {
  await step('record', () => sandbox.run('head -c 500000000 /dev/zero >large', LONG));
}
await step('milestone', () => litterbox.milestone(what, 'all of it'));
const yes = { acceptRisky: true, tip: what === 'many' ? '3' : '1' };
await step('worktree', () => litterbox.worktree(what, yes));
await step('merge', () => litterbox.merge(what, yes));
await litterbox[Symbol.asyncDispose]();
