import { type CallOptions, type RuntimeStatus, SandboxId } from '@litterbox/core/provider';

/** Tells names in a directory; nothing where there is none. Files of a host do. */
export interface NameList {
  list(path: string, options?: CallOptions): Promise<readonly { readonly name: string }[] | undefined>;
}

/** The state of a sandbox as the marks in its directory tell it; undefined where there is no such directory. */
export async function sandboxState(
  files: NameList,
  directory: string,
  id: SandboxId,
  options?: CallOptions,
): Promise<RuntimeStatus | undefined> {
  const entries = await files.list(directory, options);
  if (!entries) return undefined;
  const names = new Set(entries.map(({ name }) => name));
  const mark = (['paused', 'stopped'] as const).find((name) => names.has(name));
  const state = names.has('meta.json') ? (mark ?? 'running') : 'broken';
  return { id, state };
}

/**
 * The states of all sandboxes, by a look at each directory: on this machine that is less than a program.
 *
 * @param sandboxes absolute path of the directory that holds theirs
 */
export async function* sandboxStates(
  files: NameList,
  sandboxes: string,
  options?: CallOptions,
): AsyncGenerator<RuntimeStatus, void, undefined> {
  const ids = ((await files.list(sandboxes, options)) ?? [])
    .map(({ name }) => name)
    .filter((name) => SandboxId.is(name));
  const looks = ids.map(async (id) => await sandboxState(files, `${sandboxes}/${id}`, id, options));
  for (const status of await Promise.all(looks)) if (status) yield status;
}
