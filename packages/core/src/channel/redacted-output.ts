import type { RedactedStream } from '../domain/secrets/redacted-stream.ts';
import type { OutputChunk } from '../ports/common/process.ts';
import type { HeldSecrets } from './held-secrets.ts';

/** The output of one process without secrets: each of its two streams by itself. */
export class RedactedOutput {
  readonly #streams: Readonly<Record<OutputChunk['type'], RedactedStream | undefined>>;

  constructor(secrets: HeldSecrets) {
    this.#streams = { 'stdout-data': secrets.redaction(), 'stderr-data': secrets.redaction() };
  }

  /** @returns what may pass by now; nothing where all is held back */
  push(chunk: OutputChunk): OutputChunk | undefined {
    const stream = this.#streams[chunk.type];
    if (!stream) return chunk;
    const bytes = stream.push(chunk.bytes);
    return bytes.length === 0 ? undefined : { type: chunk.type, bytes };
  }

  /** @returns what was held back, once nothing follows */
  end(): readonly OutputChunk[] {
    return (['stdout-data', 'stderr-data'] as const).flatMap((type) => {
      const bytes = this.#streams[type]?.end();
      return bytes && bytes.length > 0 ? [{ type, bytes }] : [];
    });
  }
}
