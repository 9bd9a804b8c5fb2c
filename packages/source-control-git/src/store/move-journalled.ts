import { failpoint } from '@litterbox/core/provider';
import type { ObjectSink } from '../objects/object-sink.ts';
import type { JournalledChange } from '../objects/revision-journal.ts';
import type { Store } from './store.ts';

/** Adds what was put into a sink and moves refs, in order: durable by one sync when it resolves. The caller holds the store's lock. */
export async function moveJournalled(
  store: Store,
  sink: ObjectSink,
  { refs, objects }: JournalledChange,
): Promise<void> {
  await store.journal.append({ refs, objects }, () => sink.stage());
  failpoint('journal.after-append');
  sink.reveal();
  for (const [index, { name, value }] of refs.entries()) {
    if (index === refs.length - 1) failpoint('journal.before-last-ref');
    store.refs.writeJournalled(name, value);
  }
}
