// Kills every operation at calls of the kernel, in an order that follows from the seed of the run. LITTERBOX_SWEEP: only this operation;
// LITTERBOX_SWEEP_SECONDS: for so long, else at every call.
import { seededRandom } from '../model/seeded-random.ts';
import { countPoints, OPERATIONS, sweepPoint } from './sweep.ts';

const only = process.env['LITTERBOX_SWEEP'];
const seconds = Number(process.env['LITTERBOX_SWEEP_SECONDS'] ?? Number.POSITIVE_INFINITY);

for (const operation of OPERATIONS) {
  if (only !== undefined && only !== operation.name) continue;
  const points = await countPoints(operation);
  const order = shuffled(points);
  const endMs = performance.now() + seconds * 1000;
  let swept = 0;
  let failed = 0;
  for (const point of order) {
    if (performance.now() > endMs) break;
    const startedMs = performance.now();
    swept += 1;
    try {
      const { signal, error } = await sweepPoint(operation, point);
      const how = signal ?? error?.code ?? 'done';
      console.log(`sweep: ${operation.name} ${point}/${points} ${how} ${Math.round(performance.now() - startedMs)} ms`);
    } catch (error) {
      failed += 1;
      console.error(`sweep: ${operation.name} ${point}/${points} FAILED: ${String(error)}`);
    }
  }
  console.log(`sweep: ${operation.name}: ${swept} of ${points} points, ${failed} failed`);
  if (failed > 0 || swept === 0) process.exitCode = 1;
}

/** The numbers from 1 to `count`, so that a sweep that is cut short is a fair sample. */
function shuffled(count: number): readonly number[] {
  const random = seededRandom(12);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [numbers[last], numbers[other]] = [numbers[other] ?? 0, numbers[last] ?? 0];
  }
  return numbers;
}
