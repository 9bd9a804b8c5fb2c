import { createSandbox, parseInput, PERSON_USE_CASES } from '@litterbox/core';
import { useCaseFixture, type UseCaseFixture, type UseCaseFixtureOptions } from '@litterbox/testing';
import { compose } from '../src/composition-root.ts';
import { Sandbox } from '../src/sandbox.ts';

/** A sandbox `a` over ports in memory, and the world it is in. */
export async function inMemory(
  options?: UseCaseFixtureOptions,
  input: { readonly ephemeral?: boolean; readonly labels?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly fixture: UseCaseFixture; readonly sandbox: Sandbox }> {
  const fixture = useCaseFixture(options);
  const useCases = compose(fixture, PERSON_USE_CASES);
  const { record, hold } = await createSandbox.execute(useCases, parseInput(createSandbox, { ...input, name: 'a' }));
  return { fixture, sandbox: new Sandbox(useCases, record, hold) };
}
