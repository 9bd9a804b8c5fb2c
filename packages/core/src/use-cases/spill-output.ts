import { joinBytes } from '../domain/join-bytes.ts';
import type { CallOptions } from '../ports/call.ts';
import { isLitterboxError } from '../domain/errors.ts';
import type { KeptOutput } from '../channel/output-keeper.ts';
import { writeContent } from './file-contents.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';

/** Where it lies inside: gone with the session, never recorded. */
const DIRECTORY = '/tmp/litterbox';

/** Puts the output of a command, too long for an answer, into a file of its sandbox, where it can be read in parts. */
export class SpillOutput {
  readonly #find: FindSandbox;
  readonly #open: OpenSandboxes;

  constructor(find: FindSandbox, open: OpenSandboxes) {
    this.#find = find;
    this.#open = open;
  }

  /** The file's path inside; `undefined` when it could not be written, which takes nothing from the answer. */
  async execute(
    sandbox: string,
    { stdout, stderr }: { readonly stdout: KeptOutput; readonly stderr: KeptOutput },
    options?: CallOptions,
  ): Promise<string | undefined> {
    const record = await this.#find.execute(sandbox, options);
    const opened = await this.#open.get(record, options);
    const file = `${DIRECTORY}/output-${crypto.randomUUID().slice(0, 8)}.txt`;
    const parts = [...partsOf(stdout), ...(stderr.bytes.length > 0 ? [text('\n[stderr]\n'), ...partsOf(stderr)] : [])];
    try {
      await writeContent(opened, file, joinBytes(parts), options);
      return file;
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return undefined; // a full /tmp, or one that the agent made read-only
    }
  }
}

/** What was dropped even of this is said where it was. */
function partsOf({ bytes, cutAt, droppedBytes }: KeptOutput): readonly Uint8Array[] {
  if (droppedBytes === 0) return [bytes];
  return [bytes.subarray(0, cutAt), text(`\n[${droppedBytes} bytes left out]\n`), bytes.subarray(cutAt)];
}

const text = (words: string) => new TextEncoder().encode(words);
