import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { LitterboxError } from 'litterbox';
import type { Hands } from '../hands.ts';

const MAX_KEPT = 1000;
const MAX_BYTES = 32 * 2 ** 20;
const PRINTED = /^\/[\w./-]+\/tasks\/([0-9a-z]{1,32})\.output$/;
const NAMED = /\/[\w./-]+\/(?:tasks\/[0-9a-z]{1,32}\.output|tool-results\/[0-9a-z]{1,32}\.txt)(?![\w./-])/g;

/**
 * Claude keeps long output, and that of commands in the background, in files of the person's machine and tells the model their paths. A
 * command that names one of them reads it in the sandbox, where the output came from.
 */
export class SavedOutputs {
  /** By their paths on the person's machine: the name of the output. */
  readonly #files = new Map<string, string>();
  #results: string | undefined;

  /** @param transcript of Claude's session: beside it are the files of long output */
  session(transcript: string): void {
    this.#results = transcript.replace(/\.jsonl$/, '/tool-results');
  }

  /** @param file to which a relay prints for Claude */
  printed(file: string): void {
    const [, name] = PRINTED.exec(file) ?? [];
    if (name === undefined) return;
    this.#files.set(file, name);
    if (this.#results !== undefined) this.#files.set(`${this.#results}/${name}.txt`, name);
    for (const oldest of [...this.#files.keys()].slice(0, -MAX_KEPT)) this.#files.delete(oldest);
  }

  /** Brings what a script names of them into the sandbox. Resolves with the script that finds it there. */
  async broughtInto(hands: Hands, script: string): Promise<string> {
    let found = script;
    for (const file of new Set(script.match(NAMED))) {
      const name = this.#files.get(file);
      const bytes = name === undefined ? undefined : await bytesOf(file);
      if (bytes === undefined) continue;
      const inside = `/tmp/claude-outputs/${name}.txt`;
      await hands.files.write(inside, bytes);
      found = found.replaceAll(file, inside);
    }
    return found;
  }
}

/** `undefined`: there is no such file any more. */
async function bytesOf(file: string): Promise<Uint8Array | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await handle.stat();
    if (!status.isFile()) return undefined;
    if (status.size <= MAX_BYTES) return await handle.readFile();
    throw new LitterboxError('FILE_TOO_LARGE', `${file} has ${status.size} bytes, and ${MAX_BYTES} are brought in.`, {
      operation: 'agent.seat',
      hint: 'Run the command again, with its output in a file below /tmp, and read that.',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ELOOP')
      return undefined;
    throw error;
  }
}
