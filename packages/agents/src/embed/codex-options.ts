import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownDirectory } from '../own-directory.ts';
import { shellWord } from '../shell-word.ts';
import type { OpenedSeat } from '../seats/seat.ts';
import type { TriedProgram } from '../trial/tried-programs.ts';

/** For `new Codex()` of `@openai/codex-sdk`. */
export interface CodexOptions {
  readonly codexPathOverride: string;
}

const DECIDES =
  'environments.toml in the home of Codex decides where it works, so it would not work in the sandbox. Nothing was started.';

/**
 * A program that is Codex with its hands in the sandbox. The SDK's own options `env` and `config` could say the same, and a program that
 * gives an `env` of its own would then have a Codex without a sandbox here.
 */
export async function codexProgram(
  { path }: TriedProgram,
  { args, environment }: OpenedSeat,
): Promise<AsyncDisposable & { readonly options: CodexOptions }> {
  const directory = await ownDirectory('seat'); // for its owner alone
  const program = join(directory, 'codex');
  const lines = [
    '#!/bin/sh',
    `[ ! -e "\${CODEX_HOME:-$HOME/.codex}/environments.toml" ] || { echo ${shellWord(DECIDES)} >&2; exit 2; }`,
    ...Object.entries(environment).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    `exec ${[path, ...args].map(shellWord).join(' ')} "$@"`,
    '',
  ];
  await writeFile(program, lines.join('\n'), { mode: 0o700 });
  return {
    options: { codexPathOverride: program },
    [Symbol.asyncDispose]: async () => await rm(directory, { recursive: true, force: true }),
  };
}
