// Writes docs/reference: what the command line and the server themselves say of their commands and tools.
// Usage: node --conditions=@litterbox/source tools/write-reference.mjs [--check]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { programOf } from '../packages/cli/src/program.ts';
import { diffLines } from './diff-lines.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'litterbox-reference-'));
const environment = {
  PATH: process.env.PATH,
  HOME: scratch,
  LITTERBOX_HOME: join(scratch, 'state'),
  LC_ALL: 'C.UTF-8',
};
const node = ['--no-warnings', '--conditions=@litterbox/source', join(root, 'packages/cli/src/bin.ts')];
const program = programOf(() => {
  throw new Error('A reference runs no command.');
});
/** They start without the command line, and say themselves what they take. */
const BY_THEMSELVES = ['mcp', 'serve'];
/** Without what every help says of itself, and the heading where nothing else stands below that. */
const ownHelp = (help) =>
  help.replace(/^ +-h, --help +display help for command\n/m, '').replace(/^Options:\n\n?(?=\n|Examples|$)/m, '');
const MADE = '<!-- Made by npm run docs:reference, never by hand. -->';

/** `[name, help]` of every command below a command, parents first, as `--help` shows them. */
function commandsBelow(command, words) {
  let help = '';
  if (BY_THEMSELVES.includes(words.join(' '))) {
    const asked = [...node, ...words, '--help'];
    help = execFileSync(process.execPath, asked, { env: environment, cwd: scratch, encoding: 'utf8' });
  } else {
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 });
    command.outputHelp();
  }
  const own = words.length > 0 ? [[words.join(' '), help]] : [];
  const groups = new Map(); // in the order in which a help lists them
  for (const one of command.commands) groups.set(one.helpGroup(), [...(groups.get(one.helpGroup()) ?? []), one]);
  return [...own, ...[...groups.values()].flat().flatMap((one) => commandsBelow(one, [...words, one.name()]))];
}

function commandLine() {
  const sections = commandsBelow(program, []).map(
    ([name, help]) => `## ${name}\n\n\`\`\`text\n${ownHelp(help).trimEnd()}\n\`\`\``,
  );
  return `# Commands\n\n${MADE}\n\nWhat \`litterbox COMMAND --help\` prints. [The command line](../guides/command-line.md) tells it as stories.\n\n${sections.join('\n\n')}\n`;
}

async function toolsPage() {
  execFileSync('git', ['init', '-q', '-b', 'main', scratch], { env: environment });
  const identity = ['-c', 'user.name=reference', '-c', 'user.email=reference@localhost'];
  execFileSync('git', [...identity, 'commit', '-q', '--allow-empty', '-m', 'one'], { env: environment, cwd: scratch });
  const client = new Client({ name: 'reference', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [...node, '-C', scratch, 'mcp'], env: environment }),
  );
  const { tools } = await client.listTools();
  await client.close();
  const sections = tools.map(({ name, description, inputSchema: { properties = {}, required = [] } }) => {
    const rows = Object.entries(properties).map(
      ([field, schema]) =>
        `| \`${field}\` | ${required.includes(field) ? 'yes' : ''} | ${typeOf(schema)} | ${cell(schema.description ?? '')} |`,
    );
    if (rows.length === 0) return `## ${name}\n\n${description}\n\nIt takes no arguments.`;
    return `## ${name}\n\n${description}\n\n| argument | required | type | is |\n|---|---|---|---|\n${rows.join('\n')}`;
  });
  return `# Tools\n\n${MADE}\n\nWhat \`litterbox mcp\` offers to an agent where nothing is configured. [By tools, over MCP](../guides/mcp.md) shows what they answer.\n\n${sections.join('\n\n')}\n`;
}

const typeOf = ({ type, enum: values, items }) =>
  values
    ? values.map((value) => `\`${value}\``).join(', ')
    : type === 'array'
      ? `list of ${typeOf(items)}`
      : String(type);
const cell = (text) => text.replaceAll('|', '\\|');

try {
  const pages = { 'commands.md': commandLine(), 'tools.md': await toolsPage() };
  for (const [name, wanted] of Object.entries(pages)) {
    const path = join(root, 'docs/reference', name);
    if (!process.argv.includes('--check')) writeFileSync(path, wanted);
    else if (readFileSync(path, 'utf8') !== wanted) {
      console.error(
        `docs/reference/${name} is not what the program says (- page, + program):\n${diffLines(readFileSync(path, 'utf8'), wanted)}`,
      );
      console.error('npm run docs:reference makes it anew.');
      process.exitCode = 1;
    }
  }
  if (!process.exitCode) console.log('reference: says what the programs say');
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
