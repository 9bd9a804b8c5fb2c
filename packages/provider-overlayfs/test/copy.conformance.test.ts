import { OF_COPYING, runConformance } from './run-conformance.ts';

await runConformance('copy', undefined, undefined, OF_COPYING);
