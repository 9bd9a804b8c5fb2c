// Every test file runs whole in some part of the gate or of the deep tests, every pattern of a part finds a file, and no part of the
// gate needs what `tools/test-host.sh up gate` does not make.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTS } from './parts.mjs';
import { filesOf, ROOT, TEST_FILES } from './test-files.mjs';

const problems = [];
const whole = new Set(PARTS.filter(({ titles }) => !titles).flatMap((part) => filesOf(part)));
for (const file of TEST_FILES) if (!whole.has(file)) problems.push(`${file} runs whole in no part`);
for (const part of PARTS)
  for (const pattern of part.files ?? [])
    if (filesOf({ files: [pattern] }).length === 0) problems.push(`${part.name}: no test file is like ${pattern}`);
// What only `up` makes. An image that a helper names is seen where the tests run: `up gate` leaves no other in the engines.
const DEEP_ALONE = /supervisors:bookworm|images\/supervisors|tools\/referees/;
for (const part of PARTS) {
  if (!['fast', 'gate', 'deep'].includes(part.layer)) problems.push(`${part.name}: '${part.layer}' is no layer`);
  if (part.layer === 'deep') continue;
  for (const file of filesOf(part)) {
    const [found] = DEEP_ALONE.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
    if (found) problems.push(`${part.name}: ${file} needs ${found}, which test-host.sh up gate does not make`);
  }
}
for (const { name, titles } of PARTS) if (titles && !Array.isArray(titles)) problems.push(`${name}: titles is no list`);
const names = PARTS.map(({ name }) => name);
for (const name of names)
  if (names.indexOf(name) !== names.lastIndexOf(name)) problems.push(`two parts are named ${name}`);

for (const problem of problems) console.error(`test parts: ${problem}`);
if (problems.length > 0) process.exit(1);
console.log(`test parts: ${TEST_FILES.length} test files in ${PARTS.length} parts`);
