import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import type { Clock } from '../../ports/common/clock.ts';

/** For so long nothing may have changed before it is recorded. */
const STILL_MS = 1_000;
/** All but one part of so many of the time nobody looks. */
const PARTS = 20;

interface Looking {
  readonly clock: Clock;
  /** Gives all that changed since it was recorded last. */
  look(): Promise<AsyncIterable<ChangedPath>>;
  record(): Promise<void>;
}

/** Records what a long call changes whenever the workspace was still for a second: who is killed then has lost little. Disposing ends that. */
export class RecordMeanwhile implements AsyncDisposable {
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;

  constructor(looking: Looking) {
    this.#ended = this.#run(looking);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#ended;
  }

  async #run({ clock, look, record }: Looking): Promise<void> {
    const { signal } = this.#end;
    let before = '';
    let waitMs = STILL_MS;
    for (;;) {
      await clock.sleep(waitMs, { signal }).catch(() => {});
      if (signal.aborted) return;
      const fromMs = clock.monotonicMs();
      try {
        const now = await digestOf(await look());
        if (now !== '' && now === before) await record();
        before = now;
      } catch {
        before = ''; // it is paused, or somebody else is at work in it: the end of the call records all the same
      }
      waitMs = Math.max(STILL_MS, PARTS * (clock.monotonicMs() - fromMs));
    }
  }
}

/** Another text when other paths changed, or their sizes. Empty: nothing did. */
async function digestOf(changes: AsyncIterable<ChangedPath>): Promise<string> {
  let count = 0;
  let sum = 0;
  for await (const change of changes) {
    const text = JSON.stringify({ ...change, content: undefined });
    let hash = 0;
    for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    count += 1;
    sum = (sum + hash) | 0; // in any order
  }
  return count === 0 ? '' : `${count} ${sum}`;
}
