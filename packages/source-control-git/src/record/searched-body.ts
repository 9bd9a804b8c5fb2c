import { type SecretBytes, secretIn } from '@litterbox/core/provider';

/** A content that is too large for memory holds a secret. */
export class HoldsSecret extends Error {
  readonly secret: string;

  constructor(secret: string) {
    super('the content holds a secret');
    this.secret = secret;
  }
}

/** The same bytes, which end in an error once a secret was among them: whoever reads on may have kept none of them by then. */
export async function* searchedBody(
  body: AsyncIterable<Uint8Array>,
  secrets: readonly SecretBytes[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const overlap = Math.max(0, ...secrets.map(({ bytes }) => bytes.length - 1));
  let before = Buffer.alloc(0);
  let found: string | undefined;
  for await (const chunk of body) {
    const window = Buffer.concat([before, chunk]);
    found ??= secretIn(window, secrets);
    before = Buffer.from(window.subarray(Math.max(0, window.length - overlap)));
    yield chunk;
  }
  if (found !== undefined) throw new HoldsSecret(found);
}
