// Looks up every test that docs/requirements.md and docs/attacks.md name, every attack that no row names, and every README
// line that must stand in an example.
// Usage: node docs/check-requirements.mjs
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const FOLDERS = {
  kit: ['packages/conformance/src', 'packages/conformance/src/sandbox-provider'],
  git: ['packages/source-control-git/test'],
  state: ['packages/state-sqlite/test'],
  config: ['packages/core/src/config'],
  domain: ['packages/core/src/domain'],
  overlayfs: ['packages/provider-overlayfs/test'],
  litterbox: ['packages/litterbox/test'],
  cli: ['packages/cli/test'],
  conformance: ['packages/conformance'],
  tools: ['tools'],
  attacks: ['packages/hardening/test/attacks'],
};
const problems = [];
let named = 0;

/** Checks the tests that a cell names, written as `folder/file`: title. Gives how many there are. */
function checkTests(number, evidence) {
  const tests = [...evidence.matchAll(/`([a-z]+)\/([^`]+)`: (.+?)(?=<br>|$)/g)];
  for (const [, folder, file, title] of tests) {
    named += 1;
    const path = (FOLDERS[folder] ?? []).map((parent) => join(parent, file)).find((one) => existsSync(join(root, one)));
    if (path === undefined) problems.push(`${number}: no file ${folder}/${file}`);
    else if (!read(path).replaceAll("\\'", "'").includes(title.replaceAll('\\|', '|')))
      problems.push(`${number}: ${path} has no test called: ${title}`);
  }
  return tests.length;
}

const rowsOf = (document) =>
  read(document)
    .split('\n')
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));

for (const [, number, , status, evidence] of rowsOf('docs/requirements.md')) {
  if (!/^[XR]?\d+$/.test(number ?? '')) continue;
  if (checkTests(number, evidence) === 0 && status === 'done') problems.push(`${number} is done without a test`);
}

const attacks = read('docs/attacks.md');
for (const [, number, , evidence] of rowsOf('docs/attacks.md')) {
  if (!/^AX?\d+$/.test(number ?? '')) continue;
  if (checkTests(number, evidence) === 0 && !/^not applicable yet: ./.test(evidence))
    problems.push(`${number} has neither a test nor a reason`);
}
for (const file of readdirSync(join(root, FOLDERS.attacks[0])).filter((name) => name.endsWith('.test.ts'))) {
  const source = read(join(FOLDERS.attacks[0], file)).replaceAll("\\'", "'");
  for (const [, , title] of source.matchAll(/\b(?:attack\w*|it)\(\s*(['"])(AX?\d+: .+?)\1,/g))
    if (!attacks.includes(`: ${title}`)) problems.push(`docs/attacks.md has no row for: ${title}`);
}

const example = read('examples/embed/main.mjs');
const [, program = ''] = /```js\n([^`]+)```/.exec(read('README.md')) ?? [];
for (const line of program.split('\n'))
  if (!example.includes(line)) problems.push(`README.md: not in examples/embed/main.mjs: ${line}`);

if (problems.length > 0) {
  console.error(`check-requirements:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`documents: ${named} named tests found`);
