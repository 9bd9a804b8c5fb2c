import { isLitterboxError } from 'litterbox';
import type { Hands } from './hands.ts';

/** Absolute path of the shell that an agent's commands are given to. */
export async function shellOf(hands: Hands): Promise<string> {
  try {
    await hands.status('/bin/bash');
    return '/bin/bash';
  } catch (error) {
    if (isLitterboxError(error, 'NOT_FOUND')) return '/bin/sh';
    throw error;
  }
}
