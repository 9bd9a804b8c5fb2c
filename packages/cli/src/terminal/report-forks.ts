import type { SandboxRecord } from '@litterbox/core';
import type { Talk } from './talk.ts';

/**
 * Carries out what makes several forks. When it is interrupted, or fails, the forks that were made by then hold work that a person may want: they stay,
 * and their names are told with the line that removes them.
 */
export async function reportForks<Result>(
  talk: Pick<Talk, 'warning'>,
  work: (onFork: (fork: Pick<SandboxRecord, 'slug'>) => void) => Promise<Result>,
): Promise<Result> {
  const made: string[] = [];
  try {
    return await work(({ slug }) => made.push(slug));
  } catch (error) {
    const names = made.join(' ');
    if (made.length === 1)
      talk.warning(`The fork ${names} stays, with what it did. Delete it: litterbox delete ${names} --force.`);
    if (made.length > 1)
      talk.warning(`The forks stay, with what they did. Delete them: litterbox delete ${names} --force.`);
    throw error;
  }
}
