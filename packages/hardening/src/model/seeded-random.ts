import { Random } from './random.ts';

/** The seed of a run without `LITTERBOX_SEED`, as tools/tests/seed.mjs has it. */
const FIXED_SEED = 20_261_126;

/** The seed of this run of the tests: `LITTERBOX_SEED`, which is a whole number. */
export const seedOfRun = (): number => Number(process.env['LITTERBOX_SEED'] || FIXED_SEED);

/** Numbers that follow from the seed of the run. @param stream tells those of one test from those of another */
export const seededRandom = (stream: number): Random => new Random(seedOfRun() + stream);
