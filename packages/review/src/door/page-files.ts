import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** One file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
  'colours.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};

/** The files of the page by their paths on the server. No request names a file: these are all that there are. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  // Found by the name of the package: the command line has this code in a bundle of its own.
  const root = dirname(createRequire(import.meta.url).resolve('@litterbox/review/package.json'));
  const files = await Promise.all(
    Object.entries(TYPES).map(async ([name, type]) => {
      const file = { type, bytes: await readFile(join(root, 'bundle', name)) };
      return [`/${name === 'index.html' ? '' : name}`, file] as const;
    }),
  );
  return new Map(files);
}
