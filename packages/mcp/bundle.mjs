// Puts the server for agents into a few files of its own: what it can reach is what is in them, and a test reads the list.
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { lateBuiltins } from '../../tools/bundle/late-builtins.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here('bundle'), { recursive: true, force: true });
const bundle = await rolldown({
  input: here('dist/start.js'),
  platform: 'node',
  plugins: [lateBuiltins],
});
const { output } = await bundle.write({
  dir: here('bundle'),
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  comments: { legal: true },
});
const root = here('../../');
const modules = output.flatMap((chunk) => Object.keys(chunk.modules ?? {})).map((path) => path.replace(root, ''));
writeFileSync(here('bundle/modules.json'), `${JSON.stringify(modules.sort(), undefined, 1)}\n`);
// What comes out is CommonJS, and its types have to say so.
writeFileSync(
  here('bundle/start.d.cts'),
  `type Door = typeof import('../dist/start.js', { with: { 'resolution-mode': 'import' } });
export declare const launchKeeper: Door['launchKeeper'];
export declare const start: Door['start'];
export {};
`,
);
