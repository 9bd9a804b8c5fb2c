import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './usage-error.ts';

/** What was made, and where. */
export interface CreatedProvider {
  /** Absolute path. */
  readonly directory: string;
  /** Relative to it, sorted. */
  readonly files: readonly string[];
}

/** A provider's name: part of paths, of control groups and of error details. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
/** What npm would not pack as it is, or would take for a part of this package. */
const RENAMED: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'manifest.json': 'package.json',
  'kit/kit.ts': 'test/kit.test.ts',
};

/**
 * Makes a package with a provider that works, its kit and its manifest, in a directory of its name.
 *
 * @param name of the provider, and of the directory: lower-case letters, digits and dashes, a letter first, at most 40 characters
 * @param parent absolute path of the directory that it is made in
 * @throws UsageError for any other name, and when the directory holds something
 */
export async function createProvider(name: string, parent: string): Promise<CreatedProvider> {
  if (!NAME.test(name))
    throw new UsageError(
      `${JSON.stringify(name)} is no name for a provider.`,
      'Take lower-case letters, digits and dashes, a letter first, 40 characters at most: my-sandboxes.',
    );
  const directory = join(parent, name);
  await mkdir(parent, { recursive: true });
  await makeEmpty(directory);
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const template = join(PACKAGE, 'template');
  const files: string[] = [];
  for (const entry of await readdir(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const packed = join(relative(template, entry.parentPath), entry.name);
    const path = RENAMED[packed] ?? packed;
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text.replaceAll('{{name}}', name).replaceAll('{{version}}', version), {
      flag: 'wx',
    });
    files.push(path);
  }
  return { directory, files: files.sort() };
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
