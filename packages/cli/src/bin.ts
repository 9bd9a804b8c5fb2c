import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { compiledCodeDirectory } from './person/compiled-code.ts';

const compiled = compiledCodeDirectory(process.env, process.getuid?.());
if (compiled !== undefined) enableCompileCache?.(compiled); // of the modules below: half of the start-up
// V8 otherwise lets its young generation grow by 100 MB while a large change is recorded, of which a tenth is in use.
setFlagsFromString('--semi-space-growth-factor=1');
// And its old one by a multiple of what is in use: where its own threads get no processor, by another 100 MB.
setFlagsFromString('--heap-growing-percent=20');
const [verb, ...rest] = process.argv.slice(2);
// A program of its own, in files of its own: what agents reach holds nothing that deletes, applies, merges or trusts.
if (verb === 'mcp' || (verb === 'serve' && !rest.includes('--e2b')))
  void import('@litterbox/mcp/start').then(({ start }) => start(verb, rest));
else void import('./main.ts').then(({ main }) => main(process.argv.slice(2)));
