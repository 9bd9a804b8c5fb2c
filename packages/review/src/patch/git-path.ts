import { decodeRaw, encodeRaw } from '@litterbox/core';

const SHORT: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** A path as git writes it in a patch: between quotes, with escapes, where it has unusual bytes. */
export function gitPath(text: string): string {
  if (!text.startsWith('"')) return text;
  const bytes: number[] = [];
  for (const [part, escaped] of text.slice(1, -1).matchAll(/\\([0-3][0-7]{2}|.)|[^\\]+/gs)) {
    if (escaped === undefined) bytes.push(...encodeRaw(part));
    else bytes.push(SHORT[escaped] ?? Number.parseInt(escaped, 8));
  }
  return decodeRaw(Uint8Array.from(bytes));
}

/** The path of `diff --git a/PATH b/PATH`, in which both are the same; a renamed file has lines of its own for that. */
export function headerPath(line: string): string {
  const both = line.slice('diff --git '.length);
  const half = both.slice((both.length + 1) / 2);
  return gitPath(half).slice('b/'.length);
}
