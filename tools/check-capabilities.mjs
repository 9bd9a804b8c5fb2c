// Fails when the table of docs/capabilities.md is not the one that docs/capabilities.json makes.
import { readFileSync } from 'node:fs';
import { PAGE, pageWithTable } from './capability-table.mjs';
import { diffLines } from './diff-lines.mjs';

const [page, wanted] = [readFileSync(PAGE, 'utf8'), pageWithTable()];
if (page !== wanted) {
  console.error(
    `docs/capabilities.md shows other capabilities than were measured (- page, + measured):\n${diffLines(page, wanted)}`,
  );
  console.error('It is made by npm run docs:matrix, never by hand.');
  process.exit(1);
}
console.log('capabilities: the page shows what was measured');
