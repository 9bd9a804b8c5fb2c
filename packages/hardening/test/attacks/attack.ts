import { expect, it } from '@jest/globals';
import { type AttackFixture, attackFixture } from '../../src/index.ts';

const runner: { readonly it: (title: string, body: () => Promise<void>) => void } = { it };

/** A test on a fixture of its own, that ends with the look for what the attack achieved: marks, secrets, changes. */
export function attack(
  title: string,
  body: (fixture: AttackFixture) => Promise<void>,
  files?: Readonly<Record<string, string>>,
): void {
  runner.it(title, async () => {
    await using fixture = await attackFixture(files);
    await body(fixture);
    expect(await fixture.achieved()).toEqual([]);
  });
}
