// Writes packages/litterbox/src/operation-options.ts: what methods of the library take, as interfaces whose comments are the words of the
// operations. A hover then shows them, and no type of zod is in a public signature.
// Usage: node --conditions=@litterbox/source tools/write-option-types.mjs [--check]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as core from '@litterbox/core';
import { diffLines } from './diff-lines.mjs';

const file = fileURLToPath(new URL('../packages/litterbox/src/operation-options.ts', import.meta.url));
/** `without` has the keys that the method takes otherwise, `beside` the interface that has all others. @type {readonly { name: string, beside?: string, operation: any, without: readonly string[], comment: string }[]} */
const INTERFACES = [
  {
    name: 'CreateInput',
    operation: core.createSandbox,
    without: [],
    comment: 'How a sandbox is made. Everything else comes from the configuration.',
  },
  {
    name: 'RunInput',
    operation: core.runCommand,
    without: ['sandbox', 'command', 'stdin'],
    comment: 'How a command runs.',
  },
  {
    name: 'AttachInput',
    operation: core.openShell,
    without: ['sandbox'],
    comment: 'How a process is started that a person or a program works with.',
  },
  {
    name: 'AttachByNameInput',
    beside: 'AttachInput',
    operation: core.openShell,
    without: [],
    comment: 'The same, with the sandbox by its name.',
  },
  {
    name: 'PlanInput',
    operation: core.planIntegration,
    without: ['sandbox'],
    comment: 'An apply or merge that is only planned.',
  },
  {
    name: 'PlanByNameInput',
    beside: 'PlanInput',
    operation: core.planIntegration,
    without: [],
    comment: 'The same, with the sandbox by its name.',
  },
  {
    name: 'ApplyInput',
    operation: core.applyChanges,
    without: ['sandbox'],
    comment: "How work is staged: `tip` and `acceptRisky` are a person's yes.",
  },
  {
    name: 'MergeInput',
    operation: core.mergeChanges,
    without: ['sandbox'],
    comment: "How work is merged: `tip` and `acceptRisky` are a person's yes, `message` the subject of the commit.",
  },
  {
    name: 'WorktreeInput',
    operation: core.exportWorktree,
    without: ['sandbox'],
    comment: 'How the files of the review branch are written.',
  },
  {
    name: 'DiffInput',
    operation: core.readDiff,
    without: ['sandbox'],
    comment: 'Which part of the changes is read.',
  },
  {
    name: 'LogsInput',
    operation: core.readServiceLogs,
    without: ['sandbox'],
    comment: 'Which output of services is read.',
  },
];

const isWrapped = ({ def }) => def.type === 'optional' || def.type === 'readonly';

/** The words of a field for programs, at whichever layer of its schema they are. */
function aboutOf(schema) {
  return core.wordings.get(schema)?.about ?? (isWrapped(schema) ? aboutOf(schema.def.innerType) : undefined);
}

/** The type of a value as a caller writes it. A schema that nothing is known of is an error: the table below has to know it. */
function typeOf(schema) {
  const { def } = schema;
  const types = {
    string: () => 'string',
    number: () => 'number',
    boolean: () => 'boolean',
    custom: () => 'Uint8Array',
    optional: () => typeOf(def.innerType),
    readonly: () => `readonly ${typeOf(def.innerType)}`,
    enum: () =>
      Object.values(def.entries)
        .map((one) => `'${one}'`)
        .join(' | '),
    union: () => def.options.map(typeOf).join(' | '),
    array: () => `${bracketed(typeOf(def.element))}[]`,
    tuple: () =>
      `[${[...def.items.map(typeOf), ...(def.rest ? [`...${bracketed(typeOf(def.rest))}[]`] : [])].join(', ')}]`,
    record: () => `Readonly<Record<string, ${typeOf(def.valueType)}>>`,
    object: () =>
      `{ ${Object.entries(schema.shape)
        .map(([key, one]) => `readonly ${key}${one.def.type === 'optional' ? '?' : ''}: ${typeOf(one)}`)
        .join('; ')} }`,
  };
  const make = types[def.type];
  if (!make) throw new Error(`A schema of type ${def.type} is new: say in typeOf what its type is.`);
  return make();
}

const bracketed = (type) => (/^(?:readonly |.* \| )/.test(type) ? `(${type})` : type);

function memberOf(operation, key, schema) {
  const words = aboutOf(schema) ?? schema.description;
  if (words === undefined)
    throw new Error(
      `The field ${key} of ${operation.name} has no words: describe() it, or give its wording an \`about\`.`,
    );
  const isOptional = schema.def.type === 'optional';
  const unit = key.endsWith('Bytes') ? ' In bytes.' : key.endsWith('Ms') ? ' In milliseconds.' : '';
  const sentence = `${words}.${unit}`;
  return `  /** ${sentence.replaceAll('*/', '*\\/')} */\n  readonly ${key}${isOptional ? '?' : ''}: ${typeOf(schema)}${isOptional ? ' | undefined' : ''};`;
}

const interfaces = INTERFACES.map(({ name, beside, operation, without, comment }) => {
  const own = INTERFACES.find((one) => one.name === beside)?.without;
  const members = Object.entries(operation.input.shape)
    .filter(([key]) => !without.includes(key) && (own?.includes(key) ?? true))
    .map(([key, schema]) => memberOf(operation, key, schema));
  return `/** ${comment} */\nexport interface ${name}${beside ? ` extends ${beside}` : ''} {\n${members.join('\n')}\n}\n`;
});
const text = `// Made by npm run options:write from the operations of core, never by hand.\n\n${interfaces.join('\n')}`;

const formatted = execFileSync('biome', ['format', `--stdin-file-path=${file}`], { input: text, encoding: 'utf8' });
const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
if (process.argv.includes('--check')) {
  if (before !== formatted) {
    console.error(
      `options: packages/litterbox/src/operation-options.ts (- kept, + made):\n${diffLines(before, formatted)}`,
    );
    console.error('Renew it: npm run options:write');
    process.exit(1);
  }
} else writeFileSync(file, formatted);
console.log(`options: ${INTERFACES.length} interfaces as the operations say`);
