import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { personsPath } from '../persons-path.ts';

/**
 * Opens a link in the browser of the person by a file that they alone can read: every user of the machine sees the words of a command.
 *
 * @returns what takes the file away again
 */
export function openInBrowser(link: string, directory: string): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'litterbox-review-'));
  chmodSync(folder, 0o700);
  const page = join(folder, 'review.html');
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0; url=${link}">\n`, { mode: 0o600 });
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [pathToFileURL(page).href], {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, PATH: personsPath(process.env['PATH'], directory) },
  });
  child.on('error', () => {}); // the address is on the screen
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}
