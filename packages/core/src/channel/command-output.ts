import type { OutputChunk } from '../ports/common/process.ts';
import { BoundedOutput, type KeptOutput } from './bounded-output.ts';
import type { ChannelCommand, OutputListener } from './channel-command.ts';
import { type HeldSecrets, NO_SECRETS } from './held-secrets.ts';
import { RedactedOutput } from './redacted-output.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 2 ** 20;

/** The output of a command on its way out: secrets replaced, told to who listens, and kept within its bound. */
export class CommandOutput {
  readonly #stdout: BoundedOutput;
  readonly #stderr: BoundedOutput;
  readonly #redacted: RedactedOutput;
  readonly #onOutput: OutputListener | undefined;

  constructor({ maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, isRaw, onOutput }: ChannelCommand, secrets: HeldSecrets) {
    this.#stdout = new BoundedOutput(maxOutputBytes);
    this.#stderr = new BoundedOutput(maxOutputBytes);
    this.#redacted = new RedactedOutput(isRaw ? NO_SECRETS : secrets);
    this.#onOutput = onOutput;
  }

  /** Takes one chunk as the shell gives it. A promise holds the shell back. */
  readonly keep = (chunk: OutputChunk): unknown => {
    const passed = this.#redacted.push(chunk);
    return passed && this.#pass(passed);
  };

  /** Passes on what was held back as the possible beginning of a secret. */
  async end(): Promise<{ readonly stdout: KeptOutput; readonly stderr: KeptOutput }> {
    for (const chunk of this.#redacted.end()) await this.#pass(chunk);
    return { stdout: this.#stdout.kept(), stderr: this.#stderr.kept() };
  }

  #pass(chunk: OutputChunk): unknown {
    (chunk.type === 'stdout-data' ? this.#stdout : this.#stderr).push(chunk.bytes);
    return this.#onOutput?.(chunk);
  }
}
