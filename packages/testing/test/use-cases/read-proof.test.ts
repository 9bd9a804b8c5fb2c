import { expect, test } from '@jest/globals';
import type { Proof } from '@litterbox/core';
import { useCaseFixture, type UseCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const PROGRAMS = { programs: { pytest: async () => 0, ctest: async () => 1, jest: async () => 0, tox: async () => 0 } };

async function prepared(options: UseCaseFixtureOptions = PROGRAMS): Promise<UseCaseFixture> {
  const fixture = useCaseFixture(options);
  await made(fixture);
  return fixture;
}

const run = async (fixture: UseCaseFixture, command: string) =>
  void (await fixture.runCommand.run({ sandbox: 'a', command }));

const told = ({ tests }: Proof) =>
  tests.map(({ command, exitCode, isOwnExit, changesSince }) =>
    [command, exitCode, ...(isOwnExit ? [] : ['of another']), changesSince].join(' '),
  );

test('FC-327: the last test, how it ended, and that nothing changed since; or what did', async () => {
  await using fixture = await prepared();
  await run(fixture, 'echo 1 >file');
  await run(fixture, 'pytest -q');
  await run(fixture, 'cat file');
  expect(told(await fixture.readProof.read('a'))).toEqual(['pytest -q 0 0']);
  await run(fixture, 'echo 2 >file');
  await run(fixture, 'ctest');
  expect(told(await fixture.readProof.read('a'))).toEqual(['ctest 1 0', 'pytest -q 0 1']);
  const plan = await fixture.integrateChanges.plan({ sandbox: 'a', integration: 'merge' });
  expect(told(plan.proof)).toEqual(['ctest 1 0', 'pytest -q 0 1']);
  const shown: string[] = [];
  const onPlan = ({ proof }: { readonly proof: Proof }) => void shown.push(...told(proof));
  await fixture.integrateChanges.integrate({ sandbox: 'a', integration: 'merge', onPlan });
  expect(shown).toEqual(['ctest 1 0', 'pytest -q 0 1']);
});

test('a test that changed files itself saw no other change, and the last run of one command counts', async () => {
  await using fixture = await prepared();
  await run(fixture, 'pytest && echo 1 >report');
  expect(told(await fixture.readProof.read('a'))).toEqual(['pytest && echo 1 >report 0 0']);
  await run(fixture, 'jest');
  await run(fixture, 'echo 2 >file');
  await run(fixture, 'jest');
  expect(told(await fixture.readProof.read('a'))).toEqual(['jest 0 0', 'pytest && echo 1 >report 0 1']);
});

test('what a program in the background changed after the test is a change since', async () => {
  await using fixture = await prepared();
  await run(fixture, 'pytest');
  fixture.scribble('a', 'file', 'later');
  const plan = await fixture.integrateChanges.plan({ sandbox: 'a', integration: 'merge' });
  expect(told(plan.proof)).toEqual(['pytest 0 1']);
});

test('AX142: a command that only names a test is none, and one that hides how it ended says so', async () => {
  await using fixture = await prepared();
  await run(fixture, 'echo pytest');
  await run(fixture, "echo 'x; pytest'");
  await run(fixture, 'echo pytest >pytest');
  const none = await fixture.readProof.read('a');
  expect(none).toEqual({ tests: [], looked: 3, isMore: false });
  await run(fixture, 'ctest || true');
  expect(told(await fixture.readProof.read('a'))).toEqual(['ctest || true 0 of another 0']);
});

test('a test whose program was killed did not end, whatever came before', async () => {
  const fixture = await prepared();
  await run(fixture, 'pytest');
  await fixture.killedAt('exec.after-exit', (world) => run(world, 'pytest'));
  await using next = fixture.restarted();
  const [last] = (await next.readProof.read('a')).tests;
  expect(last?.exitCode).toBeUndefined();
  expect(last?.outcome).not.toBe('ok');
});
