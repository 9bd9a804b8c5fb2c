import { once } from 'node:events';
import { findSandbox, reconcileState, visible } from '@litterbox/core';
import { loadLitterbox } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { portOf } from '../words/port-of.ts';
import { openInBrowser } from './open-in-browser.ts';

/** The page shows what is asked before it sends a yes. Whatever is asked beyond that is answered no. */
const NOBODY = { approve: async () => false };

/** `litterbox review`: serves the page until it is ended. */
export const review: Perform = async ({ talk, directory, signal }, [sandbox], { port, open }) => {
  const chosen = portOf('review', port);
  await using litterbox = await loadLitterbox(directory, NOBODY);
  const record = sandbox === undefined ? undefined : await litterbox.perform(findSandbox, { sandbox }, { signal });
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const { startReview } = await import('@litterbox/review');
  const onOpened = () => talk.notice(`Opened. For another window: ${page.link()}`);
  await using page = await startReview({ litterbox, sandbox: record?.slug, port: chosen, onOpened });
  const address = page.link();
  if (talk.json) talk.document({ address });
  else talk.result(address);
  talk.notice('The link opens one window of your browser. Ctrl-C ends the page.');
  const isOpened = !talk.json && process.stdout.isTTY && open !== false;
  const takeAway = isOpened ? await openInBrowser(address, directory) : undefined;
  if (!signal.aborted) await once(signal, 'abort');
  takeAway?.();
};
