import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './usage-error.ts';

/** What a provider can begin from: a runtime of this machine, or a service that has machines behind an API. */
export const TEMPLATES = ['runc', 'api'] as const;

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
 * The files of a package with a provider of that name, sorted by path.
 *
 * @param name lower-case letters, digits and dashes, a letter first, at most 40 characters
 * @param template one of {@link TEMPLATES}
 * @throws UsageError for any other name or template
 */
export async function providerFiles(
  name: string,
  template: string = TEMPLATES[0],
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  if (!NAME.test(name))
    throw new UsageError(
      `${JSON.stringify(name)} is no name for a provider.`,
      'Take lower-case letters, digits and dashes, a letter first, 40 characters at most: my-sandboxes.',
    );
  if (!TEMPLATES.some((one) => one === template))
    throw new UsageError(`There is no template ${JSON.stringify(template)}.`, `Take one of ${TEMPLATES.join(', ')}.`);
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const files: { readonly path: string; readonly text: string }[] = [];
  for (const part of ['common', template]) {
    const directory = join(PACKAGE, 'templates', part);
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const packed = join(relative(directory, entry.parentPath), entry.name);
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      files.push({
        path: RENAMED[packed] ?? packed,
        text: text.replaceAll('{{name}}', name).replaceAll('{{version}}', version),
      });
    }
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}
