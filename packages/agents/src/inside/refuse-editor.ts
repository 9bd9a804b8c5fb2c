import type { Readable, Writable } from 'node:stream';
import { linesOf } from '../lines-of.ts';
import { refusal, requestId } from './acp-messages.ts';
import { MAX_MESSAGE_BYTES } from './acp-relay.ts';

/** How long the first request of an editor is waited for. It sends one as soon as it has started a program. */
const FIRST_MS = 5_000;

/** Tells an editor by an answer why no agent speaks with it: few show what a program prints beside its messages. */
export async function refuseEditor(
  { input, output }: { readonly input: Readable; readonly output: Writable },
  why: string,
): Promise<void> {
  const waited = setTimeout(() => input.destroy(), FIRST_MS);
  try {
    for await (const line of linesOf(input, MAX_MESSAGE_BYTES)) {
      const id = requestId(line);
      if (id === undefined) continue;
      await new Promise((resolve) => output.write(`${refusal(id, why)}\n`, resolve));
      return;
    }
  } catch {
    // it has gone, or says what nobody can read
  } finally {
    clearTimeout(waited);
    input.destroy();
  }
}
