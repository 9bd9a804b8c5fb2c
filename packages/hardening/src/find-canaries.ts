import { type Canary, formsOf } from './canary.ts';

/** One sentence for each secret that is in the bytes, in whatever form. */
export function findCanaries(
  canaries: readonly Canary[],
  where: string,
  bytes: Uint8Array | string,
): readonly string[] {
  const haystack =
    typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return canaries
    .filter((one) => formsOf(one).some((form) => haystack.includes(form)))
    .map(({ place }) => `the secret in ${place} is in ${where}`);
}
