import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../store/store.ts';

/** Contents of a file: as the person has it, as it was, as the sandbox has it. */
export type MergedSides = readonly [ours: Uint8Array, base: Uint8Array, theirs: Uint8Array];

const NAMES = ['ours', 'base', 'theirs'];

/**
 * Three contents put together as git does it, in a directory that is removed after.
 *
 * @returns undefined where they are no text
 */
export async function mergeFile(
  store: Store,
  room: string,
  sides: MergedSides,
  options: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const files = NAMES.map((name) => join(room, name));
  for (const [index, content] of sides.entries()) await writeFile(files[index] ?? '', content, { mode: 0o600 });
  const args = ['merge-file', '-p', '-q', ...options, ...files];
  const { code, stdout } = await store.run(args, { gitDirectory: room, cwd: room, signal });
  return code >= 0 && code < 128 ? stdout : undefined; // the number of conflicts, or a refusal
}
