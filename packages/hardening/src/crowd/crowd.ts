// npm run test:crowd [seconds] [overlayfs|docker|podman]: twenty servers for agents and four command lines on one repository.
import type { ProviderUnderTest } from '../faults/provider-under-test.ts';
import { runCrowd } from './run-crowd.ts';

const seconds = Number(process.argv[2] ?? 300);
const provider = (process.argv[3] ?? 'overlayfs') as ProviderUnderTest;
const { problems, ...counts } = await runCrowd({ servers: 20, commandLines: 4, durationMs: seconds * 1000, provider });
console.log(JSON.stringify({ seconds, provider, ...counts, problems: problems.length }));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
