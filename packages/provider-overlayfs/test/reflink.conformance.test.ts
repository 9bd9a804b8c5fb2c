import { OF_CLONES, runConformance } from './run-conformance.ts';

await runConformance('reflink', undefined, undefined, OF_CLONES);
