import { Buffer } from 'node:buffer';
import { readdirSync } from 'node:fs';
import { encodeRaw } from '@litterbox/core/provider';

/**
 * Names in a directory of this machine, read at once: for a program that has nothing else to do meanwhile, and would take longer to load
 * what reads them behind its back. `undefined` when there is no such directory.
 */
export async function listNow(path: string): Promise<readonly { readonly name: string }[] | undefined> {
  try {
    return readdirSync(Buffer.from(encodeRaw(path))).map((name) => ({ name }));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
