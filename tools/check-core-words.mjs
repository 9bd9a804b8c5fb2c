// Core does not know how a sandbox is made: no source of it names a mount, a namespace, a control group or a tool of that kind, but for words of the
// person's configuration and of the ports that carry them. The last check proves that a new one would be seen.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MACHINERY = /\b(?:u?mount(?:s|ed)?|namespaces?|cgroups?|control groups?|bubblewrap|bwrap|seccomp|runc)\b/i;

/** What may name them, below core's `src`, and why. */
const ALLOWED = new Map([
  ['config/', 'keys and values that a person writes'],
  ['ports/machine/host.ts', 'the port to a machine, whose networks are namespaces'],
  ['domain/sandbox/system-rule-hint.ts', 'words of programs that run into a rule of the sandbox'],
  ['domain/sandbox/assurance.ts', 'names of controls, which a person reads'],
  ['channel/worker.ts', 'reads what the kernel tells programs inside of their limits'],
]);

const source = fileURLToPath(new URL('../packages/core/src', import.meta.url));

/** Lines that name machinery where nothing allows it. */
function findings(file, text) {
  if ([...ALLOWED.keys()].some((allowed) => file.startsWith(allowed))) return [];
  return text
    .split('\n')
    .flatMap((line, index) => (MACHINERY.test(line) ? [`core/src/${file}:${index + 1}: ${line.trim()}`] : []));
}

const files = readdirSync(source, { recursive: true }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);
const found = files.flatMap((name) => findings(name, readFileSync(join(source, name), 'utf8')));
const unused = [...ALLOWED.keys()].filter(
  (allowed) =>
    !files.some((name) => name.startsWith(allowed) && MACHINERY.test(readFileSync(join(source, name), 'utf8'))),
);
found.push(
  ...unused.map((allowed) => `core/src/${allowed} names nothing any more: take it out of tools/check-core-words.mjs`),
);
if (findings('use-cases/planted.ts', 'const script = "mount -t overlay";').length !== 1)
  found.push('a planted mount is not seen');
if (found.length > 0) {
  console.error(`core-words:\n${found.join('\n')}`);
  process.exit(1);
}
console.log(`core words: ${files.length} files, ${ALLOWED.size} exceptions`);
