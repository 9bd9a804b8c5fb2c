// Fails when the table of README.md is not the one that docs/capabilities.json makes.
import { readFileSync } from 'node:fs';
import { PAGE, pageWithTable } from './capability-table.mjs';
import { diffLines } from './diff-lines.mjs';

const [page, wanted] = [readFileSync(PAGE, 'utf8'), pageWithTable()];
if (page !== wanted) {
  console.error(
    `README.md shows other capabilities than were measured (- README, + measured):\n${diffLines(page, wanted)}`,
  );
  console.error('It is made by npm run docs:matrix, never by hand.');
  process.exit(1);
}
console.log('capabilities: README shows what was measured');
