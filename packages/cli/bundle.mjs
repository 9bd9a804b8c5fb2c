// Puts the command line with all it uses into a few files: looking up and reading some hundred modules is most of what a
// short command like `litterbox list` would otherwise do. Providers and commands stay files of their own, loaded when chosen.
// CommonJS, because an ES module that imports a built-in makes Node fill in all of it, standard input and streams included.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { lateBuiltins } from '../../tools/bundle/late-builtins.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The manifest of commands as data, so that starting up needs no operation and no schema. */
const manifest = {
  name: 'command-manifest',
  async load(id) {
    if (id !== here('dist/words/command-manifest.js')) return undefined;
    const { MANIFEST } = await import(id);
    return `export const MANIFEST = ${JSON.stringify(MANIFEST)};`;
  },
};

/** The package's CommonJS asks for its parts in a way that only Node follows; its ES module has no default export, which is what Node gives. */
const jsonc = {
  name: 'jsonc-parser',
  resolveId: (id) => (id === 'jsonc-parser' ? `\0${id}` : undefined),
  load(id) {
    if (id !== '\0jsonc-parser') return undefined;
    const main = createRequire(import.meta.url).resolve('jsonc-parser/lib/esm/main.js');
    return `export * as default from ${JSON.stringify(main)};`;
  },
};

/** What a list by files alone needs, in one file of its own: shared with the others it would be in dozens. */
const atOnce = {
  name: 'at-once',
  resolveId: (id, importer) =>
    id === './at-once.js' && importer === here('dist/bin.js') ? { id: './at-once.cjs', external: true } : undefined,
};

const written = { dir: here('bundle'), format: 'cjs', dynamicImportInCjs: false, comments: { legal: true } };

rmSync(here('bundle'), { recursive: true, force: true });
const bundle = await rolldown({
  input: here('dist/bin.js'),
  platform: 'node',
  plugins: [atOnce, manifest, jsonc, lateBuiltins],
  external: ['@litterbox/mcp/start'],
});
await bundle.write({ ...written, entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' });
const list = await rolldown({ input: here('dist/at-once.js'), platform: 'node', plugins: [lateBuiltins] });
await list.write({ ...written, entryFileNames: '[name].cjs', codeSplitting: false });
