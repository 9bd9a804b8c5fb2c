import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browse } from '../browse.ts';

/**
 * Opens a link in the browser of the person by a file that they alone can read: every user of the machine sees the words of a command.
 *
 * @returns what takes the file away again; undefined where no browser can be opened
 */
export async function openInBrowser(link: string, directory: string): Promise<(() => void) | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'litterbox-review-')); // of mode 0700
  const takeAway = () => rmSync(folder, { recursive: true, force: true });
  const page = join(folder, 'review.html');
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0; url=${link}">\n`, { mode: 0o600 });
  try {
    await browse(pathToFileURL(page).href, directory);
    return takeAway;
  } catch {
    takeAway();
    return undefined;
  }
}
