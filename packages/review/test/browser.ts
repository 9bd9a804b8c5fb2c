import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReview } from '@litterbox/review';
import type { Performer } from 'litterbox/performer';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const PROGRAM = process.env['LITTERBOX_CHROMIUM'] ?? '/usr/bin/chromium';
const ARGUMENTS = [
  '--headless',
  '--no-sandbox', // the tests run as root
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
];

/** A page in a browser of its own. */
export interface Seen extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, alerts and words of the policy that forbade something. */
  readonly trouble: string[];
  link(): string;
}

/** Serves a page and opens it. */
export async function seePage(litterbox: Performer, { isDark = false, width = 1360 } = {}): Promise<Seen> {
  const review = await startReview({ litterbox });
  const profile = mkdtempSync(join(tmpdir(), 'litterbox-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: PROGRAM,
    args: ARGUMENTS,
    viewport: { width, height: 850 },
    colorScheme: isDark ? 'dark' : 'light',
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const trouble: string[] = [];
  page.on('pageerror', (error) => trouble.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') trouble.push(message.text());
  });
  page.on('dialog', (dialog) => {
    trouble.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(review.link());
  return {
    page,
    context,
    trouble,
    link: () => review.link(),
    async [Symbol.asyncDispose]() {
      await context.close();
      await review[Symbol.asyncDispose]();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
