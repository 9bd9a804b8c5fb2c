// Looks up every test that docs/faults.md names, and that every row says either a test or a reason.
// Usage: node docs/check-faults.mjs
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const FOLDERS = {
  faults: 'packages/hardening/test/faults',
  model: 'packages/hardening/test/model',
  kit: 'packages/conformance/src/sandbox-provider',
  git: 'packages/source-control-git/test',
  state: 'packages/state-sqlite/test',
  litterbox: 'packages/litterbox/test',
};
const problems = [];
const rows = new Set();
let named = 0;

for (const line of read('docs/faults.md').split('\n')) {
  const [, id, , evidence = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
  if (!/^F\d\d$/.test(id ?? '')) continue;
  rows.add(id);
  const tests = [...evidence.matchAll(/`([a-z]+)\/([^`]+)`: (.+?)(?=<br>|$)/g)];
  if (tests.length === 0 && !/^(not applicable|open): \S/.test(evidence))
    problems.push(`${id}: neither a test nor a reason`);
  for (const [, folder, file, title] of tests) {
    named += 1;
    const path = join(FOLDERS[folder] ?? folder, file);
    if (!existsSync(join(root, path))) problems.push(`${id}: no file ${folder}/${file}`);
    else if (!read(path).replaceAll("\\'", "'").includes(title.replaceAll('\\|', '|')))
      problems.push(`${id}: ${path} has no test called: ${title}`);
  }
}
if (rows.size < 40) problems.push(`docs/faults.md has ${rows.size} rows`);

if (problems.length > 0) {
  console.error(`check-faults:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`faults: ${rows.size} rows, ${named} named tests found`);
