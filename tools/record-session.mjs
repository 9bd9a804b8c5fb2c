// npm run docs:recording: works through a first session with the built command line, on a terminal of 80 columns, and writes what it
// showed into docs/recording.svg and between the marks of README.md. Needs a build, bubblewrap, git and `script`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 80;
const BEGIN = '<!-- session: made by npm run docs:recording -->';
const END = '<!-- /session -->';

const FILES = {
  'greet.mjs': 'export const greet = (name) => `Helo, ${name}`;\n',
  'test.mjs':
    "import assert from 'node:assert/strict';\nimport { greet } from './greet.mjs';\nassert.equal(greet('Ada'), 'Hello, Ada');\nconsole.log('1 test passed');\n",
};
const COMMANDS = [
  'litterbox create fix-greeting',
  `litterbox run fix-greeting -m 'Spell it right' 'sed -i s/Helo/Hello/ greet.mjs && node test.mjs'`,
  'litterbox list',
  'litterbox diff fix-greeting',
  'litterbox merge fix-greeting',
  'git log --oneline',
];

/** Runs the commands in a repository that is made for it, each on a terminal. */
function recorded() {
  const scratch = mkdtempSync(join(tmpdir(), 'litterbox-recording-'));
  const repository = join(scratch, 'greeter');
  const node = join(root, 'node_modules/node/bin/node');
  const bin = join(scratch, 'bin');
  const env = {
    PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: scratch,
    LITTERBOX_HOME: join(scratch, 'state'),
    LITTERBOX_PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/sh',
  };
  try {
    mkdirSync(bin);
    mkdirSync(repository);
    const program = `exec ${node} --no-warnings ${join(root, 'packages/cli/bin/litterbox.cjs')} "$@"`;
    writeFileSync(join(bin, 'litterbox'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(repository, name), text);
    const git = (...args) => execFileSync('git', args, { cwd: repository, env });
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'Ada');
    git('config', 'user.email', 'ada@example.org');
    git('add', '.');
    git('commit', '-qm', 'Greet people');
    return COMMANDS.map((command) => {
      const args = ['-qec', `stty cols ${COLUMNS} rows 24; ${command}`, '/dev/null'];
      const output = execFileSync('script', args, {
        cwd: repository,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return { command, lines: linesOf(output) };
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What is left on the screen: progress is written over. */
function linesOf(output) {
  const shown = output
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) =>
      line
        .slice(line.lastIndexOf('\u001b[2K') + 1)
        .replace(/^\[2K/, '')
        .replaceAll('\r', ''),
    );
  while (stripVTControlCharacters(shown.at(-1) ?? '.').trim() === '') shown.pop();
  return shown;
}

const COLORS = { 31: '#f47067', 32: '#6bc46d', 33: '#c69026', 36: '#39c5cf' };

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One line with its colours as SVG. */
function spans(line) {
  let style = '';
  return line
    .split(/(\u001b\[[\d;]*m)/)
    .map((part) => {
      const [, code] = /^\u001b\[([\d;]*)m$/.exec(part) ?? [];
      if (code === undefined) {
        const text = escaped(stripVTControlCharacters(part));
        return style === '' || text === '' ? text : `<tspan ${style}>${text}</tspan>`;
      }
      const color = COLORS[code];
      style = color ? `fill="${color}"` : code === '1' ? 'font-weight="bold"' : code === '2' ? 'fill="#768390"' : '';
      return '';
    })
    .join('');
}

/** A terminal in which one line after the other appears; who wants no motion sees all at once. */
function svgOf(steps) {
  const LINE = 18;
  const rows = [];
  let seconds = 0.5;
  for (const { command, lines } of steps) {
    rows.push({
      seconds,
      text: `<tspan fill="#6cb6ff">$</tspan> <tspan font-weight="bold">${escaped(command)}</tspan>`,
    });
    seconds += 1.2;
    for (const line of lines) rows.push({ seconds: (seconds += 0.08), text: spans(line) });
    seconds += 1.5;
    rows.push({ seconds, text: '' });
  }
  rows.pop();
  const height = rows.length * LINE + 60;
  const widest = Math.max(
    ...steps.flatMap(({ command, lines }) => [
      command.length + 2,
      ...lines.map((line) => stripVTControlCharacters(line).length),
    ]),
  );
  const width = Math.ceil(widest * 7.83) + 40; // of a letter of 13 px
  const texts = rows.map(
    ({ seconds: at, text }, index) =>
      `<text x="20" y="${52 + index * LINE}" xml:space="preserve" style="animation-delay:${at.toFixed(2)}s">${text}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A first session of Litterbox in a terminal">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #cdd9e5; opacity: 0; animation: appear 0.01s linear forwards; }
@keyframes appear { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { opacity: 1; animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#22272e"/>
<circle cx="22" cy="20" r="6" fill="#f47067"/><circle cx="42" cy="20" r="6" fill="#c69026"/><circle cx="62" cy="20" r="6" fill="#6bc46d"/>
${texts.join('\n')}
</svg>
`;
}

const steps = recorded();
writeFileSync(join(root, 'docs/recording.svg'), svgOf(steps));
const page = readFileSync(join(root, 'README.md'), 'utf8');
const [before, rest] = page.split(BEGIN);
const [, after] = (rest ?? '').split(END);
if (after === undefined) throw new Error(`README.md has no lines '${BEGIN}' and '${END}'.`);
const session = steps
  .map(({ command, lines }) =>
    [`$ ${command}`, ...lines.map((line) => stripVTControlCharacters(line).trimEnd())].join('\n'),
  )
  .join('\n\n');
writeFileSync(join(root, 'README.md'), `${before}${BEGIN}\n\`\`\`console\n${session}\n\`\`\`\n${END}${after}`);
