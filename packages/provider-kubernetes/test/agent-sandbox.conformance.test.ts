import { runConformance } from './run-conformance.ts';

await runConformance('busybox:latest', 'agent-sandbox');
