// Looks up every test that docs/requirements.md names, and every README line that must stand in an example.
// Usage: node docs/check-requirements.mjs
import { existsSync, readFileSync } from 'node:fs';
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
};
const problems = [];
let named = 0;

for (const row of read('docs/requirements.md').split('\n')) {
  const [, number, , status, evidence] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
  if (!/^[XR]?\d+$/.test(number ?? '')) continue;
  const tests = [...evidence.matchAll(/`([a-z]+)\/([^`]+)`: (.+?)(?=<br>|$)/g)];
  if (status === 'done' && tests.length === 0) problems.push(`${number} is done without a test`);
  for (const [, folder, file, title] of tests) {
    named += 1;
    const path = (FOLDERS[folder] ?? []).map((parent) => join(parent, file)).find((one) => existsSync(join(root, one)));
    if (path === undefined) problems.push(`${number}: no file ${folder}/${file}`);
    else if (!read(path).replaceAll("\\'", "'").includes(title.replaceAll('\\|', '|')))
      problems.push(`${number}: ${path} has no test called: ${title}`);
  }
}

const example = read('examples/embed/main.mjs');
const [, program = ''] = /```js\n([^`]+)```/.exec(read('README.md')) ?? [];
for (const line of program.split('\n'))
  if (!example.includes(line)) problems.push(`README.md: not in examples/embed/main.mjs: ${line}`);

if (problems.length > 0) {
  console.error(`check-requirements:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`requirements: ${named} named tests found`);
