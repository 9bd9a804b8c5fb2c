// Puts the page into a few files: nothing of it comes from elsewhere, and none of our server is in it.
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here('bundle'), { recursive: true, force: true });
mkdirSync(here('bundle'));
for (const name of ['main', 'colours']) {
  const bundle = await rolldown({ input: here(`dist/page/${name}.js`), platform: 'browser' });
  await bundle.write({ file: here(`bundle/${name}.js`), format: 'iife', minify: true, comments: { legal: true } });
}
for (const name of ['index.html', 'style.css']) copyFileSync(here(`src/page/${name}`), here(`bundle/${name}`));
