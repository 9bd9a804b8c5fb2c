import {
  LitterboxError,
  joinBytes,
  decodeRaw,
  encodeRaw,
  type CallOptions,
  type Host,
  type ProcessHandle,
} from '@litterbox/core/provider';
import { scriptError } from './script-error.ts';

/** How a script on a host ended, and what it printed. */
export interface ScriptResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Before each script: what it makes is mostly for a sandbox's user, so that its modes must not depend on who calls. What is for nobody else
 * lies below directories that the script makes so.
 */
const OWN_UMASK = 'umask 022\n';
/** No script of ours prints more. */
const MAX_OUTPUT_BYTES = 4 * 2 ** 20;

/** How a script is run. */
export interface ScriptOptions extends CallOptions {
  /**
   * One line for the script, which has it as {@link GIVEN}. It comes by stdin: every user of a machine reads the arguments of its
   * processes, and descriptions of sandboxes hold the environment that a person gave them.
   */
  readonly given?: string;
}

/** In shell text: the word that the script was given. */
export const GIVEN = '"$lb_given"';
/** Shell text: takes it from stdin. */
export const TAKE_GIVEN = 'IFS= read -r lb_given || exit 1\n';

/** Runs shell text of ours on the host and gives what it printed. Nothing an agent wrote is ever part of it unquoted. */
export async function runScript(host: Host, script: string, options?: ScriptOptions): Promise<ScriptResult> {
  const given = options?.given;
  await using handle = await host.spawn(
    given === undefined
      ? { argv: ['sh', '-c', OWN_UMASK + script] }
      : { argv: ['sh', '-c', OWN_UMASK + TAKE_GIVEN + script], stdin: 'pipe' },
    options,
  );
  if (given !== undefined) {
    await give(handle, given);
    await handle.closeStdin();
  }
  return await resultOf(handle, options);
}

/** Runs a program of ours on the host, gives it bytes by stdin, and gives what it printed. */
export async function runProgram(
  host: Host,
  argv: readonly [string, ...string[]],
  given: Uint8Array,
  options?: CallOptions,
): Promise<ScriptResult> {
  await using handle = await host.spawn({ argv, stdin: 'pipe' }, options);
  await handle.write(given).catch(() => {}); // one that has ended by then says why by itself
  await handle.closeStdin();
  return await resultOf(handle, options);
}

async function resultOf(handle: ProcessHandle, options?: CallOptions): Promise<ScriptResult> {
  const parts = { 'stdout-data': [] as Uint8Array[], 'stderr-data': [] as Uint8Array[] };
  let total = 0;
  for await (const chunk of handle) {
    total += chunk.bytes.length;
    if (total > MAX_OUTPUT_BYTES)
      throw new LitterboxError('RESOURCE_EXHAUSTED', 'A tool of the host printed more than 4 MiB.', {
        operation: 'host.script',
      });
    parts[chunk.type].push(chunk.bytes);
  }
  const { code } = await handle.exit;
  options?.signal?.throwIfAborted();
  return { code, stdout: text(parts['stdout-data']), stderr: text(parts['stderr-data']) };
}

/**
 * Runs shell text of ours that asks now and then, by a line on its stdout, and goes on when it reads `go`. When this program is killed it reads
 * the end of its stdin instead: a script that asks before it makes its work known leaves nothing behind that nobody waits for.
 *
 * @param answer what is done before it may go on; when it throws, the script is ended
 */
export async function runAsking(
  host: Host,
  script: string,
  answer: (line: string) => Promise<void>,
  options?: ScriptOptions,
): Promise<ScriptResult> {
  const given = options?.given;
  const begin = given === undefined ? OWN_UMASK : OWN_UMASK + TAKE_GIVEN;
  await using handle = await host.spawn({ argv: ['sh', '-c', begin + script], stdin: 'pipe' }, options);
  if (given !== undefined) await give(handle, given);
  return await answered(handle, answer, options);
}

/** The same of a program of ours, which is given bytes by stdin before. */
export async function runProgramAsking(
  host: Host,
  argv: readonly [string, ...string[]],
  { given, answer }: { readonly given: Uint8Array; answer(line: string): Promise<void> },
  options?: CallOptions,
): Promise<ScriptResult> {
  await using handle = await host.spawn({ argv, stdin: 'pipe' }, options);
  await handle.write(given).catch(() => {}); // one that has ended by then says why by itself
  return await answered(handle, answer, options);
}

async function answered(
  handle: ProcessHandle,
  answer: (line: string) => Promise<void>,
  options?: CallOptions,
): Promise<ScriptResult> {
  let asked = '';
  let complaints = '';
  for await (const { type, bytes } of handle) {
    if (type === 'stderr-data') complaints = (complaints + decodeRaw(bytes)).slice(-MAX_SAID_CHARACTERS);
    else asked += decodeRaw(bytes);
    for (let end = asked.indexOf('\n'); end >= 0; end = asked.indexOf('\n')) {
      await answer(asked.slice(0, end));
      asked = asked.slice(end + 1);
      await handle.write(GO);
    }
    if (asked.length > MAX_SAID_CHARACTERS)
      throw new LitterboxError('RESOURCE_EXHAUSTED', 'A script of the host asked with a line of more than 4 KiB.', {
        operation: 'host.script',
      });
  }
  const { code } = await handle.exit;
  options?.signal?.throwIfAborted();
  return { code, stdout: asked, stderr: complaints };
}

/** Hands the line to a script. One that has ended by then says why by itself. */
export async function give(handle: ProcessHandle, given: string): Promise<void> {
  await handle.write(encodeRaw(`${given}\n`)).catch(() => {});
}

/** Shell text: asks whoever runs it by {@link runAsking}, and ends with this code where nobody is left. */
export function asking(word: string, code: number): string {
  return `echo ${word}; read -r lb_word && [ "$lb_word" = go ] || exit ${code}`;
}

const GO = new TextEncoder().encode('go\n');
const MAX_SAID_CHARACTERS = 4096;

/** As {@link runScript}; any exit but 0 is an error with what the script said. */
export async function runScriptOrFail(
  host: Host,
  operation: string,
  script: string,
  options?: ScriptOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runScript(host, script, options);
  if (code === 0) return stdout;
  throw scriptError(operation, code, stderr);
}

function text(parts: readonly Uint8Array[]): string {
  return decodeRaw(joinBytes(parts));
}
