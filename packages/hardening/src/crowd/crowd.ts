// npm run test:crowd [seconds]: twenty servers for agents and four command lines on one repository.
import { runCrowd } from './run-crowd.ts';

const seconds = Number(process.argv[2] ?? 300);
const { problems, ...counts } = await runCrowd({ servers: 20, commandLines: 4, durationMs: seconds * 1000 });
console.log(JSON.stringify({ seconds, ...counts, problems: problems.length }));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
