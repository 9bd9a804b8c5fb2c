import type { Entry, Manifest } from '@openai/agents-core/sandbox';
import type { SandboxFiles } from 'litterbox';
import { refused } from './refused.ts';

/**
 * The files of entries, by their paths in the workspace. Empty directories are left out, as git leaves them out.
 *
 * @throws LitterboxError `UNSUPPORTED` for an entry that is no file and no directory
 */
export function filesOf(entries: Readonly<Record<string, Entry>>, above = ''): Record<string, string | Uint8Array> {
  const files: Record<string, string | Uint8Array> = {};
  for (const [name, entry] of Object.entries(entries)) {
    const path = above === '' ? name : `${above}/${name}`;
    if (entry.type === 'dir' && 'children' in entry) Object.assign(files, filesOf(entry.children ?? {}, path));
    else if (entry.type === 'file' && 'content' in entry) files[path] = entry.content;
    else if (entry.type !== 'dir')
      throw refused(
        `the entry ${JSON.stringify(path)} of type ${entry.type}`,
        'Give files and directories, or write them by a command.',
      );
  }
  return files;
}

/** Writes the files of entries as one revision, if there are any. */
export async function uploadEntries(files: SandboxFiles, entries: Readonly<Record<string, Entry>>): Promise<void> {
  const wanted = filesOf(entries);
  if (Object.keys(wanted).length > 0) await files.upload(wanted, { message: 'The manifest' });
}

/** @throws LitterboxError `UNSUPPORTED` for what would be left out in silence */
export function assertHonourable({ users, groups, extraPathGrants }: Manifest): void {
  if (users.length + groups.length + extraPathGrants.length > 0)
    throw refused('users, groups and paths outside of the workspace', 'Leave them out of the manifest.');
}
