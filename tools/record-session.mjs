// npm run docs:recording: works through a first session with the built command line and the real Codex, on a terminal of 80 columns, and
// writes what it showed into docs/recording.svg and between the marks of README.md. The model of Codex is one of ours on loopback, which
// follows a plot. Needs root, a build, bubblewrap, git and `script`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { withTool } from '../packages/mcp/test/agents/drive-seat.ts';
import { lockInstall } from '../packages/mcp/test/agents/lock-install.ts';
import { modelServer } from '../packages/mcp/test/agents/model-server.ts';
import { calling, mustMatch } from '../packages/mcp/test/agents/plot.ts';
import { SEATED_CLIENTS } from '../packages/mcp/test/agents/seated-clients.ts';
import { withoutNetwork } from '../packages/mcp/test/agents/without-network.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 80;
const BEGIN = '<!-- session: made by npm run docs:recording -->';
const END = '<!-- /session -->';

const FILES = {
  'greet.mjs': 'export const greet = (name) => `Helo, ${name}`;\n',
  'test.mjs':
    "import { greet } from './greet.mjs';\nconst said = greet('Ada');\nconst isRight = said === 'Hello, Ada';\nconsole.log(isRight ? '1 test passed' : `want Hello, Ada; got ${said}`);\nprocess.exitCode = isRight ? 0 : 1;\n",
};
const COMMANDS = [
  "litterbox with codex -- exec 'node test.mjs fails. Mend it.'",
  'litterbox list',
  'litterbox diff main-codex',
  "litterbox merge main-codex -m 'Spell it right'",
  'git log --oneline',
];

/** What the model has Codex do. */
function* plot(tool, input) {
  mustMatch('the test that fails', yield* calling(tool, input('node test.mjs')), /got Helo, Ada/);
  const mended = yield* calling(tool, input('sed -i s/Helo/Hello/ greet.mjs && node test.mjs'));
  mustMatch('the test that passes', mended, /1 test passed/);
  return 'The greeting was misspelt. The test passes now.';
}

/** Runs the commands in a repository that is made for it, each on a terminal. */
async function recorded(install) {
  const scratch = mkdtempSync(join(tmpdir(), 'litterbox-recording-'));
  const home = join(scratch, 'home');
  const repository = join(home, 'greeter');
  const node = join(root, 'node_modules/node/bin/node');
  const bin = join(scratch, 'bin');
  const { client, tool, input } = SEATED_CLIENTS.find((seated) => seated.client.id === 'codex');
  await using model = await modelServer(withTool(client.dialect, tool), plot(tool, input));
  for (const directory of [bin, home, repository, join(scratch, 'tmp')]) mkdirSync(directory);
  const env = {
    PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    TMPDIR: join(scratch, 'tmp'),
    LITTERBOX_HOME: join(scratch, 'state'),
    LITTERBOX_PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/sh',
    ...client.prepare({ home }, model.url),
  };
  try {
    symlinkSync(node, join(bin, 'node'));
    symlinkSync(join(install, client.program), join(bin, 'codex'));
    const program = `exec ${node} --no-warnings ${join(root, 'packages/cli/bin/litterbox.cjs')} "$@"`;
    writeFileSync(join(bin, 'litterbox'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    for (const [name, content] of Object.entries(FILES)) writeFileSync(join(repository, name), content);
    const git = (...args) => execFileSync('git', args, { cwd: repository, env });
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'Ada');
    git('config', 'user.email', 'ada@example.org');
    git('add', '.');
    git('commit', '-qm', 'Greet people');
    const steps = [];
    for (const command of COMMANDS) {
      const args = ['-qec', `stty cols ${COLUMNS} rows 24; ${command}`, '/dev/null'];
      const child = spawn('script', args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      if (code !== 0 || model.talk.failure) throw new Error(`${command}: ${model.talk.failure ?? output}`);
      steps.push({ command, lines: linesOf(output.replaceAll(home, '/home/ada')) });
    }
    return steps;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What is left on the screen, as progress is written over, without what Codex says of itself before it works. */
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
  const banner = shown.findIndex((line) => stripVTControlCharacters(line).startsWith('OpenAI Codex'));
  const work = shown.findIndex((line) => stripVTControlCharacters(line) === 'exec');
  if (banner !== -1) shown.splice(banner, work - banner, '…');
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

await withoutNetwork(
  () => [lockInstall('clients', 'LITTERBOX_AGENT_CLIENTS')],
  async (install) => {
    const steps = await recorded(install);
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
  },
);
