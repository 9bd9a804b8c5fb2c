import { afterAll, describe, expect, it } from '@jest/globals';
import type { Litterbox } from 'litterbox';
import { expectInvariants, type FaultFixture, sharedFaultFixture } from '../../src/index.ts';
import { LARGE_RUN, MILESTONE, RUN, WRITE } from './kill-points.ts';

const shared = sharedFaultFixture(async (one) => {
  await one.once(async (litterbox) => await litterbox.create({ name: 'a' }));
});
afterAll(shared.close);

async function subjects(litterbox: Litterbox): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { subject } of litterbox.log('a')) found.push(subject);
  return found;
}

/** Runs something that changes nothing, as the next call after a kill, and returns how often `path` was recorded in all. */
async function recordings(
  fixture: FaultFixture,
  path: string,
): Promise<{ readonly times: number; readonly content: string }> {
  return await fixture.once(async (litterbox) => {
    await litterbox.reconcile();
    const sandbox = await litterbox.open('a');
    const content = (await sandbox.run(`cat ${path} 2>/dev/null; true`)).stdout;
    let times = 0;
    for await (const { commit } of litterbox.log('a')) {
      const files = await litterbox.changes('a', { revision: commit });
      if (files.some((file) => file.path === path)) times += 1;
    }
    return { times, content };
  });
}

describe('a command', () => {
  it.each(Object.entries(RUN))('killed at %s: what it wrote is %s', async (point, outcome) => {
    await shared.on(async (one) => {
      const path = point.replace('.', '-');
      // What an earlier call left is recorded first, by way of the same points.
      const when = point.startsWith('exec.') ? point : `exec.after-exit:${point}`;
      const death = await one.dying(
        { do: 'run', name: 'a', command: `echo done >${path}` },
        { failpoints: `${when}=kill` },
      );
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      const before = await one.once(async (litterbox) => {
        await litterbox.reconcile();
        return await subjects(litterbox);
      });
      await expectInvariants(one, `killed at ${point}`);
      expect(before.some((subject) => subject.includes(path))).toBe(outcome === 'recorded');
      expect(await recordings(one, path)).toEqual(
        outcome === 'before' ? { times: 0, content: '' } : { times: 1, content: 'done\n' },
      );
      await one.once(async (litterbox) => {
        const outcomes = (await litterbox.audit({ name: 'a' })).map((entry) => entry.outcome);
        expect(outcomes.filter((each) => each === 'unknown').length).toBeGreaterThan(0);
        const again = await (await litterbox.open('a')).run(`echo again >${path}`);
        one.acknowledged.add(again.recorded.revision?.commit ?? 'none');
      });
    });
  });

  it.each(Object.entries(LARGE_RUN))(
    'that writes more than the journal takes, killed at %s: what it wrote is %s',
    async (point, outcome) => {
      await shared.on(async (one) => {
        const path = `large-${point.replace('.', '-')}`;
        await one.once(async (litterbox) => {
          const { revision } = await (await litterbox.open('a')).files.write('small', point); // so that the journal holds something
          one.acknowledged.add(revision?.commit ?? 'none');
        });
        const death = await one.dying(
          { do: 'run', name: 'a', command: `head -c 300000 /dev/urandom >${path}` },
          // Settling the journal passes the points of a ref as well, and comes first.
          { failpoints: `${point.startsWith('ref.') ? 'record.before-ref' : 'exec.after-exit'}:${point}=kill` },
        );
        expect(death).toMatchObject({ signal: 'SIGKILL' });
        const before = await one.once(async (litterbox) => {
          await litterbox.reconcile();
          return await subjects(litterbox);
        });
        await expectInvariants(one, `killed at ${point}`);
        expect(before.some((subject) => subject.includes(path))).toBe(outcome === 'recorded');
        expect(await recordings(one, path)).toMatchObject({ times: 1 });
      });
    },
  );

  it.each(Object.keys(WRITE))(
    'that writes a file, killed at %s: the file is whole and recorded once',
    async (point) => {
      await shared.on(async (one) => {
        const death = await one.dying(
          { do: 'write', name: 'a', path: 'written', content: 'whole\n' },
          { failpoints: `${point}=kill` },
        );
        expect(death).toMatchObject({ signal: 'SIGKILL' });
        expect(await recordings(one, 'written')).toEqual({ times: 1, content: 'whole\n' });
        await expectInvariants(one, `killed at ${point}`);
      });
    },
  );
});

describe('a milestone', () => {
  it.each(Object.entries(MILESTONE))('killed at %s is %s after reconcile', async (point, outcome) => {
    await shared.on(async (one) => {
      const { count } = await one.once(async (litterbox) => {
        const ran = await (await litterbox.open('a')).run(`echo ${point} >m`);
        one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
        return { count: milestones(one) };
      });
      const death = await one.dying(
        { do: 'milestone', name: 'a', message: `to ${point}` },
        { failpoints: `${point}=kill` },
      );
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => await litterbox.reconcile());
      expect(milestones(one)).toBe(outcome === 'done' ? count + 1 : count);
      await expectInvariants(one, `killed at ${point}`);
      await one.once(async (litterbox) => {
        const again = await litterbox.milestone('a', `again ${point}`);
        expect(again === undefined).toBe(outcome === 'done');
      });
      expect(milestones(one)).toBe(count + 1);
    });
  });
});

/** Commits on the review branch beyond the user's own. */
function milestones(fixture: FaultFixture): number {
  const branches = fixture.git('for-each-ref', '--format=%(refname)', 'refs/heads/litterbox/a');
  return branches === '' ? 0 : Number(fixture.git('rev-list', '--count', 'main..litterbox/a'));
}

it('after all of it everything holds', async () => {
  await shared.on(async (one) => await expectInvariants(one, 'at the end'));
});
