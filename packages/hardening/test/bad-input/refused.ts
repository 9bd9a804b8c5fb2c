import { expect } from '@jest/globals';
import type { LitterboxErrorCode } from '@litterbox/core';
import type { BadInput, BadInputFixture } from './bad-input-fixture.ts';

/** The input as part of the name of a test. */
export const shownInput = ({ input }: Pick<BadInput, 'input'>): string => {
  const text = JSON.stringify(input).slice(1, -1);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
};

/** What a person has to be told: what, where, what was got and what is wanted, on one line, and what to do next. */
export function expectWords(
  message: string,
  hint: string | undefined,
  says: readonly string[],
  code: LitterboxErrorCode,
): void {
  let at = 0;
  for (const part of says) {
    const found = message.indexOf(part, at);
    expect({ message: message.slice(at), part, isFoundAtLeast: found >= 0 }).toEqual({
      message: message.slice(at),
      part,
      isFoundAtLeast: true,
    });
    at = found + part.length;
  }
  // What is to be agreed to is listed, a line each.
  if (code !== 'CONFIG_UNTRUSTED') expect(message).not.toContain('\n');
  // oxlint-disable-next-line no-control-regex
  expect(message.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\n\s+at /);
  expect(message.length).toBeLessThan(600);
  expect(hint).toEqual(expect.stringMatching(/^\S[^\n]+$/));
}

/** Runs a refusal in its world, and compares all that it must leave alone. */
export async function arranged(
  fixture: BadInputFixture,
  row: Pick<BadInput, 'arrange'>,
  body: () => Promise<void>,
): Promise<void> {
  const restore = row.arrange?.(fixture);
  try {
    const before = fixture.digest();
    await body();
    expect(fixture.digest()).toEqual(before);
  } catch (error) {
    // What was taken by mistake fails its own test, and no other.
    await fixture.litterbox.delete('new', { force: true }).catch(() => {});
    throw error;
  } finally {
    restore?.();
  }
}
