import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Where the measures are kept, and the page that shows them. */
export const MEASURES = at('docs/capabilities.json');
export const PAGE = at('docs/capabilities.md');

const BEGIN = '<!-- capabilities: made from docs/capabilities.json by npm run docs:matrix -->';
const END = '<!-- /capabilities -->';
const LIMITS = {
  memoryBytes: 'memory',
  cpus: 'processors',
  processes: 'processes',
  openFiles: 'open files',
  diskBytes: 'disk',
  diskBytesPerSecond: 'disk speed',
};

/** The page as it has to be for what was measured. */
export function pageWithTable() {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/capabilities.md has no lines '${BEGIN}' and '${END}'`);
  return `${before}${BEGIN}\n${table(JSON.parse(readFileSync(MEASURES, 'utf8')))}\n${END}${after}`;
}

function table(backends) {
  const rows = [
    ['', ...backends.map(({ name }) => name)],
    ['---', ...backends.map(() => '---')],
    ['isolation', ...backends.map(({ isolation }) => isolation)],
    ['programs from', ...backends.map(({ roots }) => roots.join(', '))],
    ['terminals', ...backends.map(({ can }) => yes(can.terminal))],
    ['services and ports', ...backends.map(({ can }) => yes(can.connect))],
    ['kept setups', ...backends.map(({ can }) => yes(can.setups))],
    ['snapshots', ...backends.map(({ can }) => yes(can.snapshots))],
    ...Object.entries(LIMITS).map(([limit, words]) => [
      `limit of ${words}`,
      ...backends.map(({ limits }) => (limits.includes(limit) ? 'yes' : 'refused')),
    ]),
    ['controls enforced', ...backends.map(({ controls }) => controlsOf(controls))],
    ['tests of the kit', ...backends.map(({ tests }) => testsOf(tests))],
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function yes(value) {
  return value ? 'yes' : 'no';
}

function controlsOf(controls) {
  const all = Object.entries(controls);
  const missing = all.filter(([, status]) => status !== 'enforced').map(([name]) => name);
  return missing.length === 0
    ? `all ${all.length}`
    : `${all.length - missing.length} of ${all.length}, not ${missing.join(', ')}`;
}

function testsOf(tests) {
  const passed = Object.values(tests).reduce((sum, group) => sum + group.passed, 0);
  const failed = Object.values(tests).reduce((sum, group) => sum + group.failed.length, 0);
  return failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`;
}
