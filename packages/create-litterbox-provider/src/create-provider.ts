import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { providerFiles } from './provider-files.ts';
import { UsageError } from './usage-error.ts';

/** What was made, and where. */
export interface CreatedProvider {
  /** Absolute path. */
  readonly directory: string;
  /** Relative to it, sorted. */
  readonly files: readonly string[];
}

/**
 * Makes a package with a provider that works, its kit and its manifest, in a directory of its name.
 *
 * @param name of the provider, and of the directory: lower-case letters, digits and dashes, a letter first, at most 40 characters
 * @param parent absolute path of the directory that it is made in
 * @param template `runc` or `api`. @defaultValue `runc`
 * @throws UsageError for any other name or template, and when the directory holds something
 */
export async function createProvider(name: string, parent: string, template?: string): Promise<CreatedProvider> {
  const files = await providerFiles(name, template);
  const directory = join(parent, name);
  await mkdir(parent, { recursive: true });
  await makeEmpty(directory);
  for (const { path, text } of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text, { flag: 'wx' });
  }
  return { directory, files: files.map(({ path }) => path) };
}

async function makeEmpty(directory: string): Promise<void> {
  const hint = 'Take another name, or remove what is there.';
  try {
    await mkdir(directory);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  let found: readonly string[];
  try {
    found = await readdir(directory);
  } catch {
    throw new UsageError(`${directory} is there and is no directory that can be read.`, hint);
  }
  if (found.length > 0)
    throw new UsageError(`${directory} is not empty: it holds ${found.length} entries, ${found[0]} among them.`, hint);
}
