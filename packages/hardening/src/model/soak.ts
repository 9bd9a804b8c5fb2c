// The model test for as long as one likes. LITTERBOX_SOAK_SECONDS (1800), _SEED (that of the run, else random), _PROCESSES (4), _SANDBOXES (4).
import { randomInt } from 'node:crypto';
import { runModel } from './run-model.ts';
import { seedOfRun } from './seeded-random.ts';

const number = (name: string, usual: number) => Number(process.env[`LITTERBOX_SOAK_${name}`] ?? usual);
const options = {
  seed: number('SEED', process.env['LITTERBOX_SEED'] ? seedOfRun() : randomInt(2 ** 31)),
  seconds: number('SECONDS', 1800),
  processes: number('PROCESSES', 4),
  sandboxes: number('SANDBOXES', 4),
  nemesis: true,
};
console.log(`soak: ${JSON.stringify(options)}`);
const { problems, counts, calls } = await runModel(options);
console.log(`soak: ${calls.length} calls`);
console.log(JSON.stringify(counts, undefined, 2));
for (const problem of problems) console.error(`soak: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
