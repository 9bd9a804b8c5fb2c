// The tests that need no root, no engine and no build: npm run test:fast
import { PARTS } from './parts.mjs';
import { printSummary } from './print-summary.mjs';
import { runParts } from './run-parts.mjs';
import { decideSeed, FIXED_SEED } from './seed.mjs';

const seed = decideSeed(process.env['LITTERBOX_SEED'], FIXED_SEED);
console.log(`test:fast: seed ${seed}`);
process.exitCode = printSummary(
  await runParts(
    PARTS.filter(({ layer }) => layer === 'fast'),
    { seed },
  ),
)
  ? 0
  : 1;
