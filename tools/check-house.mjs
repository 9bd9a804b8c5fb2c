// What makes the house hard to read, counted. Each number of tools/house.json may only fall: a rise fails with the places that are the worst.
// usage: check-house.mjs [--write]   --write keeps today's numbers, after they fell
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const kept = join(root, 'tools/house.json');
/** What runs inside, beside and for tests is read less often. */
const PRODUCT_NOT = /^packages\/(?:conformance|memory|testing|hardening|create-litterbox-provider)\//;
const DIALECT = /^(?:told|said|anew|tell|tells)$|(?:Told|Said|Anew)/;
/** The file and the title of a test, as tables of documents name them. */
const TITLES = /`[\w./-]+\.(?:test\.)?ts`: [^|<\n]*/g;
/** A step of a hint is data, and `step-command.ts` words it. */
const COMMANDS =
  /\blitterbox (?:agent|apply|audit|clone|create|delete|diff|doctor|explain|fork|gc|host|init|list|logs?|mcp|merge|milestone|pause|ports|race|recover|restore|resume|run|secret|serve|service|shell|snapshot|trust|undo|verify|with|worktree)\b/g;
const MADE = /<!-- measured: [^]*?<!-- end of [^>]*-->/g;
const RELATIVE = /^(?:What|Who|Whoever|Of)\b/;

/** @typedef {{ file: string, text: string }} Source */

/** Each rule gives its places, the worst first. @param {readonly Source[]} sources */
function places(sources, documents) {
  const found = {
    'functions of more than 60 lines': [],
    'functions of more than five parameters': [],
    'comments of ports and use cases that begin with What, Who or Of': [],
    'comments elsewhere that begin with What, Who or Of': [],
    'names of the house dialect (told, said, anew)': [],
    'commands of litterbox in texts below the command line and the server': [],
    'sources of more than 300 lines': [],
    'folders of more than 25 sources': [],
    'guides of more than 1,500 words': [],
    'decisions of more than 450 words': [],
    'words of the status beyond 900': [],
    'thousands of written words of documents beyond 80': [],
  };
  const add = (rule, size, place) => found[rule].push({ size, place });
  const folders = new Map();
  for (const { file, text } of sources) {
    folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
    const lines = text.split('\n').length;
    if (lines > 300) add('sources of more than 300 lines', lines, file);
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const at = (node) => `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
    const isInner = /^packages\/core\/src\/(?:ports|use-cases)\//.test(file);
    for (const [, words = ''] of text.matchAll(/^\s*(?:\/\*\*|\/\/|\*(?!\/)) +(.*)$/gm))
      if (RELATIVE.test(words))
        add(
          isInner
            ? 'comments of ports and use cases that begin with What, Who or Of'
            : 'comments elsewhere that begin with What, Who or Of',
          1,
          `${file}: ${words.slice(0, 60)}`,
        );
    const visit = (node) => {
      if (ts.isFunctionLike(node) && node.body) {
        const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
        const size = source.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
        if (size > 60) add('functions of more than 60 lines', size, at(node));
        if (node.parameters.length > 5) add('functions of more than five parameters', node.parameters.length, at(node));
      }
      if (
        (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) &&
        !/^packages\/(?:agents|cli|mcp)\//.test(file)
      ) {
        const commands = node.text.match(COMMANDS) ?? [];
        for (const command of commands)
          add('commands of litterbox in texts below the command line and the server', 1, `${at(node)}: ${command}`);
      }
      if (ts.isIdentifier(node) && DIALECT.test(node.text) && node.parent && node.parent.name === node)
        add('names of the house dialect (told, said, anew)', 1, `${at(node)}: ${node.text}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  for (const [folder, count] of folders) if (count > 25) add('folders of more than 25 sources', count, folder);
  for (const { file, text } of documents) {
    const words = text.split(/\s+/).filter(Boolean).length;
    if (file.startsWith('docs/guides/') && words > 1500) add('guides of more than 1,500 words', words, file);
    if (file.startsWith('docs/decisions/') && words > 450) add('decisions of more than 450 words', words, file);
    if (file === 'docs/status.md' && words > 900) add('words of the status beyond 900', words - 900, file);
  }
  // Pages and tables that programs make, and titles of tests that a row names, have nobody's words.
  const written = documents.filter(({ file }) => !/^docs\/(?:reference\/|(?:benchmarks|projects)\.md$)/.test(file));
  const own = written.map(({ text }) => text.replace(MADE, '').replace(TITLES, '').split(/\s+/).filter(Boolean).length);
  const words = own.reduce((sum, one) => sum + one, 0);
  for (let thousands = 80; thousands * 1000 < words; thousands++)
    add('thousands of written words of documents beyond 80', words, 'docs');
  for (const list of Object.values(found)) list.sort((one, other) => other.size - one.size);
  return found;
}

const read = (file) => ({ file, text: readFileSync(join(root, file), 'utf8') });
const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts') && !PRODUCT_NOT.test(file))
  .map(read);
const documents = globSync('docs/**/*.md', { cwd: root }).map(read);
const found = places(sources, documents);
const numbers = Object.fromEntries(Object.entries(found).map(([rule, list]) => [rule, list.length]));
const before = JSON.parse(readFileSync(kept, 'utf8'));
const problems = Object.entries(numbers).flatMap(([rule, number]) =>
  number > (before[rule] ?? 0)
    ? [
        `${rule}: ${number}, and ${before[rule] ?? 0} are allowed. The worst:`,
        ...found[rule].slice(0, 5).map(({ size, place }) => `  ${size}  ${place}`),
      ]
    : [],
);
const planted = places(
  [
    {
      file: 'packages/core/src/ports/planted.ts',
      text: `/** What is planted. */\nexport function told(a, b, c, d, e, f) {\n${'\n'.repeat(301)}return 'Run litterbox doctor';\n}\n`,
    },
  ],
  [],
);
for (const rule of Object.keys(numbers).slice(0, 7))
  if (planted[rule].length === 0 && !rule.includes('elsewhere'))
    problems.push(`a planted violation is not seen: ${rule}`);
if (process.argv.includes('--write')) {
  const lower = Object.entries(numbers).map(([rule, number]) => [rule, Math.min(number, before[rule] ?? number)]);
  writeFileSync(kept, `${JSON.stringify(Object.fromEntries(lower), undefined, 2)}\n`);
}
if (problems.length > 0) {
  console.error(`check-house:\n${problems.join('\n')}`);
  process.exit(1);
}
const fallen = Object.entries(numbers).filter(([rule, number]) => number < before[rule]);
console.log(
  `house: ${Object.keys(numbers).length} numbers, none has risen${fallen.length > 0 ? `; ${fallen.length} fell: node tools/check-house.mjs --write` : ''}`,
);
