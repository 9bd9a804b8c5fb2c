import { sha256 } from '../domain/text/sha256.ts';

/** Lower-case hexadecimal SHA-256 of the text in UTF-8: what a person's trust is tied to. */
export async function contentHash(text: string): Promise<string> {
  return await sha256(new TextEncoder().encode(text));
}
