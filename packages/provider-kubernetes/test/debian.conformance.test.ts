import { runConformance } from './run-conformance.ts';

// It has Perl: ports, services with a port and what listens inside.
await runConformance('debian:bookworm');
