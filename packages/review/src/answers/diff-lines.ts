import { readDiff, type SandboxDiff, visible } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { type PatchBounds, PATCH_BOUNDS, readPatch } from '../patch/read-patch.ts';
import type { PatchFile } from '../patch/patch-file.ts';

const SINCE_BOUNDS: PatchBounds = { ...PATCH_BOUNDS, maxLines: 20_000, maxFileLines: 20_000, maxCharacters: 2 ** 22 };

/** The difference from what a person had seen when they opened the page. */
interface Since {
  readonly tip: string;
  readonly files: readonly PatchFile[];
}

/**
 * The diffs of a page. Reading one to its end is the look on which a yes stands, so the difference from the look before is taken first and
 * kept: it is there for as long as the page is.
 */
export class DiffLines {
  readonly #litterbox: Performer;
  readonly #since = new Map<string, Since>();

  constructor(litterbox: Performer) {
    this.#litterbox = litterbox;
  }

  /** Objects of which each is one line: what is shown, each file, an end. One that ends without the end was cut off. */
  async *read(sandbox: string, part: 'all' | 'since', signal: AbortSignal): AsyncGenerator<object, void, undefined> {
    if (part === 'since') return yield* this.#keptSince(sandbox);
    await this.#keepSince(sandbox, signal);
    const diff = await this.#litterbox.perform(readDiff, { sandbox }, { signal });
    yield { tip: diff.tip, ...this.#sinceOf(sandbox), ...unsettledOf(diff), files: (await diff.files()).length };
    for await (const file of readPatch(diff.patch())) yield { file };
    yield { end: true };
  }

  async #keepSince(sandbox: string, signal: AbortSignal): Promise<void> {
    const look = await this.#litterbox.perform(readDiff, { sandbox, sinceSeen: true }, { signal });
    if (look.since === undefined) this.#since.delete(sandbox); // another one of this name
    if (look.since === undefined || look.since === look.tip) return;
    const files: PatchFile[] = [];
    // Its changes are from what was seen, and not from what the branch has: nobody takes some of them.
    for await (const { digest: _, ...file } of readPatch(look.patch(), SINCE_BOUNDS)) files.push(file);
    this.#since.set(sandbox, { tip: look.since, files });
  }

  #sinceOf(sandbox: string) {
    const since = this.#since.get(sandbox);
    return since && { since: { tip: since.tip, paths: since.files.map(({ path }) => path) } };
  }

  *#keptSince(sandbox: string): Generator<object, void, undefined> {
    const since = this.#since.get(sandbox);
    for (const file of since?.files ?? []) yield { file };
    yield { end: true };
  }
}

const unsettledOf = ({ unsettled }: SandboxDiff) => (unsettled === undefined ? {} : { unsettled: visible(unsettled) });
