import { runConformance } from './run-conformance.ts';

// Its shell, its tools and its tar are others than BusyBox's.
await runConformance('debian:bookworm');
