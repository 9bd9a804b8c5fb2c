// Walks the published .d.ts files from each package's entries and refuses package names that embedders must never see.
// Usage: check-public-types.mjs [ENTRY.d.ts...]; without arguments, every entry of every package.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const privatePackages =
  /^(inversify|@inversifyjs\/.*|reflect-metadata|tar-stream|commander|@bomb\.sh\/.*|@clack\/.*|@jest\/.*|jest)$/;
const nodeBuiltin = /^node:/;

const entries =
  process.argv.slice(2).length > 0 ? process.argv.slice(2).map((file) => resolve(file)) : publishedEntries();
const seen = new Set();
const leaks = [];
for (const entry of entries) visit(entry, entry);
if (leaks.length > 0) {
  console.error(`Private packages leaked into public types:\n${leaks.join('\n')}`);
  process.exit(1);
}
console.log(`public types: ${seen.size} declaration files clean`);

function publishedEntries() {
  const found = [];
  for (const name of readdirSync(join(root, 'packages'))) {
    const directory = join(root, 'packages', name);
    if (!existsSync(join(directory, 'package.json'))) continue;
    const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    for (const door of Object.values(exports)) if (door.types) found.push(join(directory, door.types));
  }
  return found;
}

function visit(file, from) {
  if (seen.has(file)) return;
  seen.add(file);
  if (!existsSync(file)) {
    leaks.push(`${relative(root, file)}: missing (reached from ${relative(root, from)})`);
    return;
  }
  // Examples in comments import what they like.
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const inCore = relative(root, file).startsWith(join('packages', 'core', 'dist'));
  for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
    if (privatePackages.test(specifier) || (inCore && nodeBuiltin.test(specifier)))
      leaks.push(`${relative(root, file)}: '${specifier}' (reached from ${relative(root, from)})`);
    if (specifier.startsWith('.')) visit(resolve(dirname(file), specifier.replace(/(\.d)?\.(js|ts)$/, '.d.ts')), from);
  }
}
