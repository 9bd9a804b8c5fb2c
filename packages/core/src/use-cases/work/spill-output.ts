import { joinBytes } from '../../domain/text/join-bytes.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { CommandOutcome } from '../../channel/command-outcome.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import { type Slug, slugify } from '../../domain/sandbox/slug.ts';
import type { KeptOutput } from '../../channel/bounded-output.ts';
import { writeContent } from '../../inside/file-contents.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';

/** Where it lies inside: gone with the session, never recorded. */
const DIRECTORY = '/tmp/litterbox';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
}

/** Puts the output of a command, too long for an answer, into a file of its sandbox, where it can be read in parts. */
export class SpillOutput {
  readonly #needs: Needs;
  /** For each sandbox, the last command that was taken back and not reported since. */
  readonly #takenBack = new Map<Slug, Promise<TakenBack | undefined>>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The file's path inside; `undefined` when it could not be written, which takes nothing from the answer. */
  async spill(
    sandbox: string,
    { stdout, stderr }: { readonly stdout: KeptOutput; readonly stderr: KeptOutput },
    options?: CallOptions,
  ): Promise<string | undefined> {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    const opened = await this.#needs.openSandboxes.get(record, options);
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

  /**
   * Keeps what a command had printed when the caller took it back, for whoever asks next. It is on its way when this returns, and never
   * fails: there is nobody to be told.
   */
  keepTakenBack(sandbox: string, outcome: Pick<CommandOutcome, 'stdout' | 'stderr' | 'durationMs'>): void {
    this.#takenBack.set(slugify(sandbox).slug, this.#kept(sandbox, outcome));
  }

  /** The output that {@link keepTakenBack} kept for a sandbox, once. */
  async lastTakenBack(sandbox: string): Promise<TakenBack | undefined> {
    const { slug } = slugify(sandbox);
    const last = this.#takenBack.get(slug);
    this.#takenBack.delete(slug);
    return await last;
  }

  async #kept(
    sandbox: string,
    { stdout, stderr, durationMs }: Pick<CommandOutcome, 'stdout' | 'stderr' | 'durationMs'>,
  ): Promise<TakenBack | undefined> {
    if (stdout.bytes.length + stderr.bytes.length === 0) return { durationMs };
    try {
      const file = await this.spill(sandbox, { stdout, stderr });
      return { durationMs, ...(file !== undefined && { file }) };
    } catch {
      return undefined; // the client has gone, and the sandbox with it
    }
  }
}

/** A command that the caller took back before it ended. */
export interface TakenBack {
  readonly durationMs: number;
  /** Path inside of what it had printed; absent when that was nothing, or could not be written. */
  readonly file?: string;
}

/** The text says where even this was cut. */
function partsOf({ bytes, cutAt, droppedBytes }: KeptOutput): readonly Uint8Array[] {
  if (droppedBytes === 0) return [bytes];
  return [bytes.subarray(0, cutAt), text(`\n[${droppedBytes} bytes left out]\n`), bytes.subarray(cutAt)];
}

const text = (words: string) => new TextEncoder().encode(words);
