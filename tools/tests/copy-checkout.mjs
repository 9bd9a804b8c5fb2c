import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './test-files.mjs';

/**
 * Copies this checkout, as it is, to where a test may break it: sources and configuration are copied; what is installed is shared, but for
 * the links to the packages themselves. Its tests and programs run from the sources.
 *
 * @param {string} copy an empty directory
 * @param {{ withBuild?: boolean }} [options] `withBuild` for tests that look at what was built
 */
export function copyCheckout(copy, { withBuild = false } = {}) {
  for (const name of ['jest.config.mjs', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT, name), join(copy, name));
  for (const name of ['packages', 'bench', 'tools'])
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) =>
        source.includes('/session-linux-') ||
        !(withBuild ? /\/node_modules$/ : /\/(dist|bundle|node_modules)$/).test(source),
    });
  share(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    const own = join(ROOT, 'packages', name, 'node_modules');
    try {
      share(own, join(copy, 'packages', name, 'node_modules'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error; // it has none
    }
  }
}

/** Links to our own packages are relative, so as copies they lead into the copy. */
function share(from, to) {
  const entries = readdirSync(from, { withFileTypes: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (source) => source === from });
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink() || entry.name === '@litterbox')
      cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(source, target);
  }
}
