import { boundedTo, type KeptOutput } from '../../channel/bounded-output.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import { joinBytes } from '../../domain/text/join-bytes.ts';
import { sha256 } from '../../domain/text/sha256.ts';
import type { PrintedContent } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { PrintedFacts, PrintedStream } from './printed-facts.ts';

/** How much of each stream of a call is kept: head and tail. */
export const MAX_PRINTED_BYTES = 64 * 1024;
/** How much is kept of one sandbox. */
const MAX_SANDBOX_BYTES = 16 * 2 ** 20;

/** The output of a command. */
export interface Printed {
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
}

interface Needs {
  readonly openRepository: OpenRepository;
}

/** Keeps what commands printed, for whoever reviews their work: behind the call, bounded, and without what looks like a secret. */
export class KeepPrinted {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Begins to keep it. What cannot be kept is no failure of the call: nothing is found under its digest later.
   *
   * @returns what the audit log is to have of it, at once; never rejects
   */
  async keep(record: SandboxRecord, { stdout, stderr }: Printed): Promise<{ readonly printed?: PrintedFacts }> {
    try {
      const [out, err] = await Promise.all([this.#stream(record, stdout), this.#stream(record, stderr)]);
      return { printed: { ...(out && { stdout: out }), ...(err && { stderr: err }) } };
    } catch {
      return {}; // the log then says that nothing of it was kept
    }
  }

  async #stream(record: SandboxRecord, output: KeptOutput): Promise<PrintedStream | undefined> {
    const { bytes, cutAt, droppedBytes } = cleaned(boundedTo(output, MAX_PRINTED_BYTES));
    if (bytes.length === 0) return undefined;
    const digest = await sha256(new Uint8Array(bytes));
    void this.#write(record, { digest, bytes, mostBytes: MAX_SANDBOX_BYTES });
    return { digest, bytes: bytes.length, cutAt, droppedBytes };
  }

  async #write(record: SandboxRecord, content: PrintedContent): Promise<void> {
    try {
      await (await this.#needs.openRepository.open()).keepPrinted(record.id, content);
    } catch {
      // a full disk, or a sandbox that is gone: see above
    }
  }
}

/** Each side of the gap by itself: what stands around it does not belong together. */
function cleaned({ bytes, cutAt, droppedBytes }: KeptOutput): KeptOutput {
  const isCut = droppedBytes > 0;
  const head = withoutSecrets(isCut ? bytes.subarray(0, cutAt) : bytes);
  const tail = isCut ? withoutSecrets(bytes.subarray(cutAt)) : new Uint8Array();
  return { bytes: joinBytes([head, tail]), cutAt: head.length, droppedBytes };
}
