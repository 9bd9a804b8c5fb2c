// Looks up every test that a table of the documents names, every test that its table does not name, and every README line
// that must stand in an example.
// Usage: node docs/check-documents.mjs
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8').replaceAll("\\'", "'");
const FOLDERS = {
  kit: ['packages/conformance/src', 'packages/conformance/src/sandbox-provider'],
  git: ['packages/source-control-git/test', 'packages/source-control-git/src/settle'],
  state: ['packages/state-sqlite/test'],
  linux: [
    'packages/linux-sandbox/src',
    'packages/linux-sandbox/test',
    'packages/linux-sandbox/src/directory',
    'packages/linux-sandbox/src/session',
    'packages/linux-sandbox/src/kernel',
  ],
  sync: ['packages/sync-rsync/test'],
  gate: ['packages/network-gate/test'],
  endpoints: ['packages/endpoints/test'],
  review: ['packages/review/test', 'packages/review/src/patch'],
  testing: ['packages/testing/test', 'packages/testing/test/use-cases'],
  config: ['packages/core/src/config', 'packages/core/src/config/settings'],
  domain: ['text', 'errors', 'paths', 'processes', 'sandbox', 'secrets', 'patch', 'search'].map(
    (room) => `packages/core/src/domain/${room}`,
  ),
  channel: ['packages/core/src/channel'],
  core: ['packages/core/src/use-cases/review', 'packages/core/src/services'],
  host: ['packages/host/test'],
  overlayfs: ['packages/provider-overlayfs/test'],
  far: ['packages/far-host/test', 'packages/linux-sandbox/src/loopback'],
  ssh: ['packages/provider-ssh/test'],
  vm: ['packages/provider-vm/test'],
  docker: ['packages/provider-docker/test'],
  podman: ['packages/provider-podman/test'],
  kubernetes: ['packages/provider-kubernetes/test'],
  engine: [
    ...['inside', 'address', 'engine', 'container'].map((room) => `packages/container-engine/src/${room}`),
    'packages/container-engine/test',
  ],
  litterbox: ['', '/sandbox', '/testing', '/watch']
    .map((folder) => `packages/litterbox/src${folder}`)
    .concat('packages/litterbox/test'),
  frameworks: ['packages/ai-sdk/test', 'packages/e2b/test', 'packages/openai-agents/test'],
  providers: ['packages/providers/src'],
  cli: [
    'packages/cli/test',
    ...['', '/commands', '/inside', '/reviewing', '/terminal', '/words'].map((folder) => `packages/cli/src${folder}`),
  ],
  conformance: ['packages/conformance'],
  create: ['packages/create-litterbox-provider/test'],
  tools: ['tools'],
  mcp: ['packages/mcp/test'],
  agents: [
    'packages/agents/test',
    ...['', '/claude', '/codex', '/inside'].map((folder) => `packages/agents/src${folder}`),
  ],
  operations: ['', '/declare', '/review', '/tools', '/tools/text', '/work'].map(
    (folder) => `packages/core/src/operations${folder}`,
  ),
  attacks: ['packages/hardening/test/attacks'],
  faults: ['packages/hardening/test/faults'],
  model: ['packages/hardening/test/model'],
  crowd: ['packages/hardening/test/crowd'],
  bad: ['packages/hardening/test/bad-input'],
};

/** Tables of which every row has a test or a reason; `titles` finds in a folder's sources what a row must name. */
const TABLES = [
  {
    document: 'docs/attacks.md',
    id: /^AX?\d+$/,
    rows: 60,
    reason: /^not applicable yet: ./,
    tests: 'attacks',
    titles: /\b(?:attack\w*|it)\(\s*(['"])(AX?\d+: .+?)\1,/g,
  },
  { document: 'docs/faults.md', id: /^F\d\d$/, rows: 40, reason: /^(?:not applicable|open): \S/ },
  {
    document: 'docs/bad-input.md',
    id: /^B\d\d$/,
    rows: 45,
    reason: /^not applicable yet: ./,
    tests: 'bad',
    titles: /(['"])(B\d\d: .+?)\1/g,
  },
  { document: 'docs/field.md', id: /^FC-\d{2,3}$/, rows: 10, reason: /^never$/, column: 4 },
];

/** The beginning of the titles of one attack, bad input, fault or field case. */
const CASE = /^(?:AX?|B|F|FC-)\d+$/;
const problems = [];
let named = 0;

/** Checks the tests that a cell names, written as `folder/file`: title, or `folder/file`: AX12 for all whose title begins so. Gives how many there are. */
function checkTests(id, evidence) {
  const tests = [...evidence.matchAll(/`([a-z]+)\/([^`]+)`: (.+?)(?=<br>|$)/g)];
  for (const [, folder, file, title] of tests) {
    named += 1;
    const path = (FOLDERS[folder] ?? []).map((parent) => join(parent, file)).find((one) => existsSync(join(root, one)));
    if (path === undefined) problems.push(`${id}: no file ${folder}/${file}`);
    else if (!read(path).includes(CASE.test(title) ? `${title}: ` : title.replaceAll('\\|', '|')))
      problems.push(`${id}: ${path} has no test called: ${title}`);
  }
  return tests.length;
}

const rowsOf = (document) =>
  readFileSync(join(root, document), 'utf8')
    .split('\n')
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const counted = { X: [], R: [], '': [] };
const requirements = new Set();
for (const [, id, , status, evidence] of rowsOf('docs/requirements.md')) {
  if (!/^[A-Z]?\d+$/.test(id ?? '')) continue;
  if (requirements.has(id)) problems.push(`docs/requirements.md has ${id} twice`);
  requirements.add(id);
  counted[id.replace(/\d+/, '')]?.push(status);
  if (/`[\w-]+\/[^`]*`: /.test(evidence.replaceAll(/`([a-z]+)\/([^`]+)`: /g, '')))
    problems.push(`${id} names a test in a folder that is not known`);
  if (checkTests(id, evidence) === 0 && status === 'done') problems.push(`${id} is done without a test`);
}

for (const [prefix, statuses] of Object.entries(counted)) {
  const count = (status) => statuses.filter((one) => one === status).length;
  const words = `${count('done')} done, ${count('partly')} partly, ${count('not yet')} not yet.`;
  if (!read('docs/requirements.md').includes(words))
    problems.push(`docs/requirements.md does not say of ${prefix || 'the numbers'}: ${words}`);
}

const texts = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
];
for (const path of texts.filter((one) => one.endsWith('.md'))) {
  if (/^(<{7}|>{7}) /m.test(read(path))) problems.push(`${path} holds two versions of a place that were never merged`);
}

for (const { document, id: pattern, rows: least, reason, tests, titles, column = 3 } of TABLES) {
  const rows = rowsOf(document).filter(([, id]) => pattern.test(id ?? ''));
  for (const id of new Set(rows.map(([, one]) => one)))
    if (rows.filter(([, one]) => one === id).length > 1) problems.push(`${document} has ${id} twice`);
  if (rows.length < least) problems.push(`${document} has ${rows.length} rows, not ${least}`);
  // A merge of two branches that changed a row leaves both.
  const ids = rows.map(({ 1: id }) => id);
  for (const id of new Set(ids.filter((one, at) => ids.indexOf(one) !== at)))
    problems.push(`${document} has ${id} twice`);
  const known = new Set();
  const found = (tests === undefined ? [] : FOLDERS[tests]).flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((file) => [...read(join(folder, file)).matchAll(titles)].map(([, , title]) => title)),
  );
  for (const { 1: id, [column]: evidence } of rows) {
    if (checkTests(id, evidence) === 0 && !reason.test(evidence))
      problems.push(`${id} has neither a test nor a reason`);
    for (const [, title] of evidence.matchAll(/`: (.+?)(?=<br>|$)/g)) known.add(title.replaceAll('\\|', '|'));
  }
  for (const title of found)
    if (![...known].some((one) => title === one || title.startsWith(CASE.test(one) ? `${one}: ` : one)))
      problems.push(`${document} has no row for: ${title}`);
}

const example = read('examples/embed/main.mjs');
const [, program = ''] = /```js\n([^`]+)```/.exec(read('README.md')) ?? [];
for (const line of program.split('\n'))
  if (!example.includes(line)) problems.push(`README.md: not in examples/embed/main.mjs: ${line}`);

if (problems.length > 0) {
  console.error(`check-documents:\n${problems.join('\n')}`);
  process.exit(1);
}
console.log(`documents: ${named} named tests found`);
