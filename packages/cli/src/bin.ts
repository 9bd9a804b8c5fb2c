import { enableCompileCache } from 'node:module';
import { compiledCodeDirectory } from './person/compiled-code.ts';
import { VERSION } from './version.ts';
import { type ListWords, listWords } from './words/list-words.ts';

const compiled = compiledCodeDirectory(process.env, process.getuid?.(), VERSION);
if (compiled !== undefined) enableCompileCache?.(compiled); // of the modules below: half of the start-up
void start(process.argv.slice(2));

async function start(args: readonly string[]): Promise<void> {
  const words = listWords(args);
  if (words && (await listedAtOnce(words))) return;
  const { setFlagsFromString } = await import('node:v8');
  // V8 otherwise lets its young generation grow by 100 MB while a large change is recorded, of which a tenth is in use.
  setFlagsFromString('--semi-space-growth-factor=1');
  // And its old one by a multiple of what is in use: where its own threads get no processor, by another 100 MB.
  setFlagsFromString('--heap-growing-percent=20');
  const [verb, ...rest] = args;
  // A program of its own, in files of its own: what agents reach holds nothing that deletes, applies, merges or trusts.
  if (verb === 'mcp' || (verb === 'serve' && !rest.includes('--e2b')))
    await (await import('@litterbox/mcp/start')).start(verb, rest);
  else await (await import('./main.ts')).main(args);
}

async function listedAtOnce(words: ListWords): Promise<boolean> {
  const { listed } = await import('./at-once.ts');
  return await listed(words, async (error, talk) =>
    (await import('./main.ts')).endUnwritten(error, talk, words.directory),
  );
}
