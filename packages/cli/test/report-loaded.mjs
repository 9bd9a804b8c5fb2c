// Loaded into the command line by providers.test.ts: writes at the end which files of modules the process loaded, a line each.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded = new Set();
registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env['LITTERBOX_TEST_LOADED'], [...loaded].join('\n')));
