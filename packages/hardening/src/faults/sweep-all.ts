// Kills every operation at every call of the kernel. LITTERBOX_SWEEP: only this operation; _FROM (1), _STEP (1): only some of its points.
import { countPoints, OPERATIONS, sweepPoint } from './sweep.ts';

const number = (name: string, usual: number) => Number(process.env[`LITTERBOX_SWEEP_${name}`] ?? usual);
const only = process.env['LITTERBOX_SWEEP'];

for (const operation of OPERATIONS) {
  if (only !== undefined && only !== operation.name) continue;
  const points = await countPoints(operation);
  let failed = 0;
  for (let point = number('FROM', 1); point <= points; point += number('STEP', 1)) {
    const startedMs = performance.now();
    try {
      const { signal, error } = await sweepPoint(operation, point);
      const how = signal ?? error?.code ?? 'done';
      console.log(`sweep: ${operation.name} ${point}/${points} ${how} ${Math.round(performance.now() - startedMs)} ms`);
    } catch (error) {
      failed += 1;
      console.error(`sweep: ${operation.name} ${point}/${points} FAILED: ${String(error)}`);
    }
  }
  if (failed > 0) process.exitCode = 1;
}
