import { isLitterboxError } from 'litterbox';
import type { Hands } from '../hands.ts';

const MAX_BYTES = 2 ** 18;

/** The first of the files with instructions for agents that the sandbox has at its top, as it is now; empty when it has none. */
export async function instructionsOf(hands: Hands, names: readonly string[]): Promise<Uint8Array> {
  for (const name of names) {
    try {
      const { sizeBytes, type } = await hands.files.stat(name);
      if (type === 'file' && sizeBytes <= MAX_BYTES) return await hands.files.read(name);
    } catch (error) {
      if (!isLitterboxError(error, 'NOT_FOUND')) throw error;
    }
  }
  return new Uint8Array();
}
