// Compares what every promised door exports with the text that is kept of it, and demands a doc comment for each export.
// Usage: check-public-api.mjs [--write]; needs a build. With --write it renews the texts, for a change that is meant.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { diffLines } from './diff-lines.mjs';
import { promisedDoors } from './public-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const kept = join(root, 'docs/public-api');
const isWriting = process.argv.includes('--write');

const doors = promisedDoors(root);
const program = ts.createProgram(
  doors.map(({ types }) => types),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: ['node'],
    noEmit: true,
  },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

/** Symbols that a text of their own package has. */
const promised = new Set(
  doors.flatMap(({ types, directory }) =>
    exportsOf(types)
      .map(([, symbol]) => symbol)
      .filter(({ declarations = [] }) =>
        declarations.some((one) => one.getSourceFile().fileName.startsWith(`${directory}/`)),
      ),
  ),
);

/** The first door that exports a symbol: later ones of the same package do not repeat it. */
const firstDoors = new Map();
for (const { name, types } of doors)
  for (const [, symbol] of exportsOf(types)) if (!firstDoors.has(symbol)) firstDoors.set(symbol, name);

/** Doors of which every member of every interface and class has a doc comment: a program meets them by hovering. */
const DOCUMENTED_THROUGHOUT = new Set(['litterbox', 'litterbox/testing']);

const problems = [];
const undocumented = [];
const texts = new Map(
  doors.map((door) => [`${door.name.replace('@litterbox/', '').replaceAll('/', '-')}.txt`, surfaceOf(door)]),
);

if (isWriting) mkdirSync(kept, { recursive: true });
const old = existsSync(kept) ? readdirSync(kept).filter((name) => name.endsWith('.txt')) : [];
for (const name of old.filter((one) => !texts.has(one))) {
  if (isWriting) rmSync(join(kept, name));
  else problems.push(`docs/public-api/${name} is of a door that is no more`);
}
for (const [name, text] of texts) {
  const file = join(kept, name);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (before === text) continue;
  if (isWriting) writeFileSync(file, text);
  else problems.push(`docs/public-api/${name} (- kept, + built):\n${diffLines(before, text)}`);
}
if (undocumented.length > 0) problems.push(`Exports without a doc comment:\n${undocumented.join('\n')}`);
if (problems.length > 0) {
  console.error(`public API: ${problems.join('\n\n')}`);
  if (!isWriting)
    console.error('\nIf the change is meant: npm run api:write, and say it in a changeset (npx changeset).');
  process.exit(1);
}
console.log(`public API: ${texts.size} doors as kept, every export has a doc comment, and of litterbox every member`);

function exportsOf(types) {
  const source = program.getSourceFile(types);
  if (!source) throw new Error(`${relative(root, types)} is missing: build first`);
  return checker
    .getExportsOfModule(checker.getSymbolAtLocation(source))
    .map((symbol) => [symbol.name, resolved(symbol)]);
}

/** What a door exports by name, and below it what these declarations need of Litterbox without its being promised elsewhere. */
function surfaceOf({ name, types, directory }) {
  const exported = new Map(exportsOf(types));
  const isOwn = (declaration) => {
    const { fileName } = declaration.getSourceFile();
    return (
      fileName.startsWith(`${directory}/`) || (fileName.startsWith(join(root, 'packages/')) && !isPromised(declaration))
    );
  };
  const shown = new Set(exported.values());
  const hidden = new Set();
  const waiting = [...shown];
  for (let symbol = waiting.pop(); symbol; symbol = waiting.pop())
    for (const declaration of (symbol.declarations ?? []).filter(isOwn))
      visit(withoutPrivate(declaration, hidden.has(symbol)), (found) => {
        if (
          shown.has(found) ||
          hidden.has(found) ||
          (firstDoors.get(found) ?? name) !== name ||
          !isTopLevel(found) ||
          !found.declarations.some(isOwn)
        )
          return;
        hidden.add(found);
        waiting.push(found);
      });
  const lines = [...exported].sort(byName).map(([as, symbol]) => {
    const declarations = (symbol.declarations ?? []).filter(isOwn);
    if (declarations.length === 0) return `export ${as} from ${originOf(symbol)}`;
    if (symbol.getDocumentationComment(checker).length === 0 && !types.endsWith('.d.cts'))
      undocumented.push(
        `${name}: ${as} (${relative(root, declarations[0].getSourceFile().fileName)
          .replace('/dist/', '/src/')
          .replace(/\.d\.ts$/, '.ts')})`,
      );
    if (DOCUMENTED_THROUGHOUT.has(name)) undocumented.push(...membersWithout(declarations, `${name}: ${as}`));
    return printed(declarations, as === symbol.name ? '' : `// as ${as}\n`);
  });
  const needed = [...hidden]
    .sort((one, other) => byName([one.name], [other.name]))
    .map((symbol) => printed(symbol.declarations.filter(isOwn), '', true));
  return `${[`// ${name}: what it exports. Made by npm run api:write.`, ...lines, ...(needed.length > 0 ? ['// Not exported, but part of the types above.', ...needed] : [])].join('\n\n')}\n`;
}

/** Members of interfaces and classes that have no doc comment. A type of the language says what its members are. */
function membersWithout(declarations, place) {
  return declarations
    .filter((one) => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one))
    .flatMap((one) => withoutPrivate(one, false).members)
    .filter((member) => member.name && ts.isIdentifier(member.name) && ts.getJSDocCommentsAndTags(member).length === 0)
    .map((member) => `${place}.${member.name.text}`);
}

function isPromised(declaration) {
  const symbol = declaration.name && checker.getSymbolAtLocation(declaration.name);
  return symbol !== undefined && promised.has(symbol);
}

function resolved(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function visit(node, onSymbol) {
  if (ts.isIdentifier(node)) {
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol) onSymbol(resolved(symbol));
  }
  ts.forEachChild(node, (child) => visit(child, onSymbol));
}

/** Declared by a module itself: no member, parameter or type parameter. */
function isTopLevel(symbol) {
  return (symbol.declarations ?? []).some((declaration) => {
    const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    return statement.parent !== undefined && ts.isSourceFile(statement.parent) && !ts.isImportDeclaration(statement);
  });
}

/** @param isHidden nobody outside can make one */
function printed(declarations, before, isHidden = false) {
  const nodes = new Set(
    declarations.map((declaration) =>
      ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration,
    ),
  );
  return (
    before +
    [...nodes]
      .map((node) => printer.printNode(ts.EmitHint.Unspecified, withoutPrivate(node, isHidden), node.getSourceFile()))
      .map((text) =>
        text
          .replace(/^export /, '')
          .replace(/^declare /, '')
          .replaceAll(/import\("\.[^"]*"\)\./g, ''),
      )
      .join('\n')
  );
}

/** A class without what nobody outside can use. */
function withoutPrivate(node, isHidden) {
  if (!ts.isClassDeclaration(node)) return node;
  const members = node.members.filter(
    (member) =>
      !(isHidden && ts.isConstructorDeclaration(member)) &&
      !ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal') &&
      !(member.name && ts.isPrivateIdentifier(member.name)) &&
      !(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private),
  );
  return ts.factory.updateClassDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  );
}

function originOf(symbol) {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  const [, own] = /packages\/([^/]+)\/dist\//.exec(file) ?? [];
  if (own) return JSON.parse(readFileSync(join(root, 'packages', own, 'package.json'), 'utf8')).name;
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? dirname(file);
}

function byName([one], [other]) {
  return one < other ? -1 : 1;
}
