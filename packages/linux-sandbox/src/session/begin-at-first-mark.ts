import { type CallOptions, type ChangeMark } from '@litterbox/core/provider';
import type { DirectoryDescription } from '../directory/directory-description.ts';
import type { SandboxDirectories } from '../directory/sandbox-directories.ts';
import type { PlaceRuntime } from './place-runtime.ts';

/** From this moment on counts what changes in the workspace: what has a change time before it is the base's. Also for later programs. */
export async function beginAtFirstMark<Meta extends DirectoryDescription & { readonly firstMark?: ChangeMark }>(
  directories: SandboxDirectories<Meta>,
  runtime: PlaceRuntime,
  meta: Meta,
  options?: CallOptions,
): Promise<void> {
  const firstMark = await runtime.mark(options);
  await directories.rewrite({ ...meta, firstMark });
  runtime.beginAt(firstMark);
}
