import { STATES_AT_ONCE } from '@litterbox/providers/at-once';
import { defaultStateDirectory, listAtOnce } from 'litterbox/at-once';
import { showList, shownSandboxes } from './terminal/show-list.ts';
import { endWithOutput } from './terminal/end-with-output.ts';
import { Talk } from './terminal/talk.ts';
import type { ListWords } from './words/list-words.ts';

/**
 * Lists sandboxes by what files say, without the program that all commands share.
 *
 * @param onUnwritten called when the output cannot be written
 * @returns false where it cannot be said like that; then nothing was shown
 */
export async function listed(
  { directory, json, all, changed }: ListWords,
  onUnwritten: (error: NodeJS.ErrnoException, talk: Talk) => Promise<void>,
): Promise<boolean> {
  // Providers by others may be meant.
  if (process.platform !== 'linux' || process.env['LITTERBOX_PROVIDERS']) return false;
  try {
    const found = await listAtOnce(all ? 'all' : 'repository', {
      stateDirectory: defaultStateDirectory(),
      repository: directory,
      states: STATES_AT_ONCE,
    });
    const talk = new Talk({ json, quiet: false, color: undefined });
    endWithOutput((error) => void onUnwritten(error, talk));
    const sandboxes = shownSandboxes(found, changed);
    if (json) talk.document(sandboxes);
    else showList({ talk, found, sandboxes, isAll: all });
    return true;
  } catch {
    return false; // whoever does it the usual way says what is wrong
  }
}
