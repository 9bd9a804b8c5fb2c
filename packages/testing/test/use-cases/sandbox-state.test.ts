import { expect, test } from '@jest/globals';
import { explain, type UseCases } from '@litterbox/core';
import { sandboxList, sandboxStatus } from '@litterbox/core/agent';
import { type UseCaseFixture, useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';
import { unanswering } from '../unanswering.ts';

/** As operations are given them. */
const useCasesOf = (fixture: UseCaseFixture): UseCases => ({
  get<UseCase extends object>(wanted: new (...args: never[]) => UseCase): UseCase {
    const found = Object.values(fixture).find((one) => one instanceof wanted);
    if (!found) throw new Error(`There is no ${wanted.name}.`);
    return found as UseCase;
  },
});

async function statusOf(fixture: UseCaseFixture, sandbox: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fixture.clock.during(sandboxStatus.execute(useCasesOf(fixture), { sandbox }));
  if (answer.type !== 'facts') throw new Error('It answers with facts.');
  return answer.facts;
}

test('a status tells the state as a list does, and what runs texts of commands', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  expect(await statusOf(fixture, 'a')).toMatchObject({ state: 'ready', shell: 'sh', changedFiles: 1 });
  fixture.shelves.sandboxes.sandboxes.clear();
  const gone = await statusOf(fixture, 'a');
  expect(gone).toMatchObject({ state: 'missing', changedFiles: 1 });
  expect(gone).not.toHaveProperty('shell');
});

test('while the provider does not answer a status tells the work and that it is slow, and opens nothing', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  await using next = fixture.restarted({ provider: unanswering });
  const begunMs = next.clock.monotonicMs();
  const facts = await statusOf(next, 'a');
  expect(facts).toMatchObject({ state: 'slow', changedFiles: 1 });
  expect(facts).not.toHaveProperty('shell');
  expect(next.clock.monotonicMs() - begunMs).toBe(3_000);
  const useCases = useCasesOf(next);
  const list = await next.clock.during(sandboxList.execute(useCases, {}));
  expect(list).toMatchObject({ facts: { sandboxes: [{ name: 'a', state: 'slow' }] } });
  const explained = await next.clock.during(explain.execute(useCases, { sandbox: 'a' }));
  expect(explain.document?.(explained)).toMatchObject({ name: 'a', state: 'slow' });
});

test('FC-529: explain tells the controls of now, and not those of the making: a policy may be taken away from outside', async () => {
  let status: 'enforced' | 'absent' = 'enforced';
  const assurance = async () => ({
    provider: 'memory',
    mechanism: 'a pod',
    controls: [{ name: 'network' as const, status, finding: 'as it was tried' }],
    readable: [],
  });
  await using fixture = useCaseFixture({ runtime: { assurance } });
  await made(fixture);
  status = 'absent';
  const explained = await fixture.clock.during(explain.execute(useCasesOf(fixture), { sandbox: 'a' }));
  expect(explain.document?.(explained)).toMatchObject({ assurance: { controls: [{ status: 'absent' }] } });
});

test('one that is being made is so, whatever its provider says', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await inState(fixture, 'a', 'creating');
  await using next = fixture.restarted({ provider: unanswering });
  expect(await next.clock.during(next.listSandboxes.list('repository'))).toMatchObject([{ state: 'creating' }]);
});
