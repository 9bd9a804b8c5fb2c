import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import type { OpenRepository } from '@litterbox/core/agent';

/** Where a directory lies in its repository; nothing at the top, and where there is no repository. */
export async function placeIn(repository: OpenRepository, directory: string): Promise<string | undefined> {
  try {
    const { root } = await repository.open();
    const place = relative(root, realpathSync(directory));
    return place === '' || place.startsWith('..') ? undefined : place;
  } catch {
    return undefined; // whoever asks for something is told what is wrong
  }
}
