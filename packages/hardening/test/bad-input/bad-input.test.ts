import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ERROR_CODES, isLitterboxError } from '@litterbox/core';
import { ARGUMENTS } from './arguments.ts';
import { COMMAND_LINE } from './command-line.ts';
import { CONFIGURATION } from './configuration.ts';
import { type BadInput, type BadInputFixture, furnishedFixture } from './bad-input-fixture.ts';
import { arranged, expectWords, shownInput } from './refused.ts';
import { SANDBOX_NAMES } from './names.ts';
import { REPOSITORIES } from './repositories.ts';

let shared: BadInputFixture;

beforeAll(async () => {
  shared = await furnishedFixture();
});
afterAll(async () => await shared[Symbol.asyncDispose]());

const TABLES: Readonly<Record<string, readonly BadInput[]>> = {
  configuration: CONFIGURATION,
  names: SANDBOX_NAMES,
  'paths and arguments': ARGUMENTS,
  'repositories and revisions': REPOSITORIES,
  'command line': COMMAND_LINE,
};

/** Where the input comes from: variables and directories. */
const surroundings = ({ directory, environment = {}, home }: BadInput) => {
  const { scratch } = shared;
  const below = (at: string) => join(scratch.directory, at);
  return {
    directory: directory === undefined ? scratch.repository : join(scratch.repository, directory),
    environment: {
      ...environment,
      ...(home !== undefined && { LITTERBOX_HOME: home.startsWith('home') ? below(home) : home }),
    },
  };
};

async function inLibrary(row: BadInput, call: NonNullable<BadInput['library']>): Promise<void> {
  const { directory, environment } = surroundings(row);
  const isPlain = row.directory === undefined && row.environment === undefined;
  const litterbox = isPlain ? shared.litterbox : shared.open(directory, { environment });
  let error: unknown;
  try {
    await call(litterbox, shared);
  } catch (thrown) {
    error = thrown;
  } finally {
    if (!isPlain) await litterbox[Symbol.asyncDispose]();
  }
  if (!isLitterboxError(error)) throw new Error('No LitterboxError.', { cause: error });
  expect({ code: error.code, message: error.message }).toEqual({ code: row.code, message: error.message });
  expectWords(error.message, error.details.hint, row.says, row.code);
}

async function atCommandLine(row: BadInput, args: readonly string[]): Promise<void> {
  const { code, says } = row.atCommandLine ?? row;
  const where = surroundings(row);
  const plain = await shared.say({ args, ...where });
  expect({ stderr: plain.stderr, code: plain.code, stdout: plain.stdout }).toEqual({
    stderr: plain.stderr,
    code: ERROR_CODES[code],
    stdout: expect.any(String),
  });
  const lines = plain.stderr.split('\n');
  const first = lines.findIndex((line) => line.startsWith('error: '));
  const hint = lines.findIndex((line) => line.startsWith('→ '));
  expect({
    stderr: plain.stderr,
    isFirstAtLeast: first >= 0,
    isHintAbove: hint > first,
    lines: lines.slice(hint + 1),
  }).toEqual({ stderr: plain.stderr, isFirstAtLeast: true, isHintAbove: true, lines: [''] });
  expectWords(
    lines
      .slice(first, hint)
      .join('\n')
      .replace(/^error: /, ''),
    lines[hint]?.slice(2),
    says,
    code,
  );
  const json = await shared.say({ args: ['--json', ...args], ...where });
  expect({ stderr: json.stderr, code: json.code, stdout: json.stdout }).toEqual({
    stderr: json.stderr,
    code: ERROR_CODES[code],
    stdout: '',
  });
  const document = JSON.parse(json.stderr.trimEnd().split('\n').at(-1) ?? '') as {
    readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
  };
  expect({ code: document.error.code, message: document.error.message }).toEqual({
    code,
    message: document.error.message,
  });
  expectWords(document.error.message, document.error.hint, says, code);
}

describe.each(Object.entries(TABLES))('refused, and nothing changed: %s', (_, rows) => {
  const inProgram = rows.flatMap((row) =>
    row.library ? [{ ...row, name: shownInput(row), library: row.library }] : [],
  );
  if (inProgram.length > 0)
    test.each(inProgram)('$title: $name, in a program', async (row) => {
      await arranged(shared, row, () => inLibrary(row, row.library));
    });
  const inWords = rows.flatMap((row) => (row.args ? [{ ...row, name: shownInput(row), args: row.args }] : []));
  test.each(inWords)('$title: $name, at the command line', async (row) => {
    await arranged(shared, row, () => atCommandLine(row, row.args));
  });
});
