import { groupsOfOverlay, runConformance } from './run-conformance.ts';

await runConformance('overlay', undefined, undefined, groupsOfOverlay);
