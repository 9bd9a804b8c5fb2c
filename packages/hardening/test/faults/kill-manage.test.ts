import { afterAll, describe, expect, it } from '@jest/globals';
import type { Litterbox } from 'litterbox';
import { expectInvariants, sharedFaultFixture } from '../../src/index.ts';
import { DELETE, RECONCILE, RECOVER, RESTORE, RUN_STATE, SNAPSHOT, SNAPSHOT_RESTORE } from './kill-points.ts';

const fixture = sharedFaultFixture(async (one) => {
  await one.once(async (litterbox) => {
    const other = await litterbox.create({ name: 'other' });
    one.acknowledged.add((await other.run('echo other >other')).recorded.revision?.commit ?? 'none');
  });
});
afterAll(fixture.close);

async function state(litterbox: Litterbox, name: string): Promise<string | undefined> {
  return (await litterbox.list()).find((sandbox) => sandbox.name === name)?.state;
}

async function made(litterbox: Litterbox, name: string): Promise<void> {
  if ((await state(litterbox, name)) !== undefined) await litterbox.delete(name, { force: true });
  await litterbox.create({ name });
}

describe('a delete', () => {
  it.each(Object.entries(DELETE))('killed at %s: the sandbox is %s after reconcile', async (point, outcome) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        const ran = await (await litterbox.open('a')).run('echo x >x');
        one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
        await litterbox.milestone('a', 'so that there is a branch');
      });
      const death = await one.dying({ do: 'delete', name: 'a' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        expect(await state(litterbox, 'a')).toBe(outcome === 'kept' ? 'ready' : undefined);
      });
      await expectInvariants(one, `killed at ${point}`);
      await one.once(async (litterbox) => {
        if (outcome === 'kept') await litterbox.delete('a', { force: true });
        expect((await (await litterbox.open('other')).run('cat other')).stdout).toBe('other\n');
      });
    });
  });

  it.each(RECONCILE)('is finished by the second reconcile when the first is killed at %s', async (point) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => await made(litterbox, 'a'));
      await one.dying({ do: 'delete', name: 'a' }, { failpoints: 'delete.after-mark=kill' });
      // The record is marked as being deleted, so that point is not passed again.
      const at = point === 'delete.after-mark' ? 'delete.after-close' : point;
      expect(await one.dying({ do: 'reconcile' }, { failpoints: `${at}=kill` })).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => await litterbox.reconcile());
      await expectInvariants(one, `reconcile killed at ${point}`);
      await one.once(async (litterbox) => expect(await state(litterbox, 'a')).toBeUndefined());
    });
  });
});

describe('a change of the run state', () => {
  it.each(RUN_STATE)('killed at %s from %s to %s: record and runtime agree', async (point, from, to) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        if (from !== 'ready') await litterbox.setRunState('a', from);
      });
      const death = await one.dying({ do: 'state', name: 'a', state: to }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      const found = await one.once(async (litterbox) => {
        await litterbox.reconcile();
        const { state: recorded } = (await litterbox.open('a')).record;
        expect(await state(litterbox, 'a')).toBe(recorded);
        return recorded;
      });
      expect([from, to]).toContain(found);
      await expectInvariants(one, `killed at ${point}`);
      await one.once(async (litterbox) => {
        if (found !== 'ready') {
          const startedMs = performance.now();
          await expect((await litterbox.open('a')).run('true')).rejects.toMatchObject({
            code: found === 'paused' ? 'SANDBOX_PAUSED' : 'SANDBOX_STOPPED',
          });
          expect(performance.now() - startedMs).toBeLessThan(1_000);
        }
        await litterbox.setRunState('a', to);
        expect(await state(litterbox, 'a')).toBe(to);
        await litterbox.setRunState('a', 'ready');
        expect((await (await litterbox.open('a')).run('echo on')).stdout).toBe('on\n');
      });
    });
  });
});

describe('a restore', () => {
  it.each(Object.entries(RESTORE))('killed at %s: history and workspace are both %s', async (point) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        const sandbox = await litterbox.open('a');
        for (const text of ['first', 'second'])
          one.acknowledged.add(
            (await sandbox.run(`echo ${text} >f; echo ${text} >only-${text}`)).recorded.revision?.commit ?? 'none',
          );
      });
      const death = await one.dying({ do: 'restore', name: 'a', revision: '1' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => await litterbox.reconcile());
      await expectInvariants(one, `killed at ${point}`);
      await one.once(async (litterbox) => {
        const sandbox = await litterbox.open('a');
        const { stdout, recorded } = await sandbox.run('cat f; ls -d only-*');
        expect(stdout).toBe('first\nonly-first\n');
        expect(recorded.revision).toBeUndefined();
        await litterbox.restore('a', '1');
        expect((await sandbox.run('cat f; ls -d only-*')).stdout).toBe('first\nonly-first\n');
      });
    });
  });
});

describe('a recovery', () => {
  it.each(RECOVER)('killed at %s: the next reconcile finishes it', async (point) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        await (await litterbox.open('a')).run('echo kept >f; echo playing >"$LITTERBOX_PLAYGROUND/p"');
      });
      const death = await one.dying({ do: 'recover', name: 'a' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        expect((await (await litterbox.open('a')).run('cat f "$LITTERBOX_PLAYGROUND/p"')).stdout).toBe(
          'kept\nplaying\n',
        );
      });
      await expectInvariants(one, `killed at ${point}`);
    });
  });
});

describe('a snapshot', () => {
  const look = 'cat f ~/home 2>/dev/null; ls';

  it.each(SNAPSHOT)('whose taker was killed at %s is kept, and goes with the sandbox', async (point) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => await made(litterbox, 'a'));
      const death = await one.dying({ do: 'snapshot', name: 'a' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        expect((await (await litterbox.open('a')).snapshots()).map(({ note }) => note?.label)).toEqual(['s1']);
      });
      await expectInvariants(one, `killed at ${point}`);
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        expect(await (await litterbox.open('a')).snapshots()).toEqual([]);
      });
    });
  });

  it.each(SNAPSHOT_RESTORE)('whose restore was killed at %s, %s before: it is %s', async (point, from, outcome) => {
    await fixture.on(async (one) => {
      await one.once(async (litterbox) => {
        await made(litterbox, 'a');
        const sandbox = await litterbox.open('a');
        await sandbox.run('echo old >f; echo old >~/home');
        await sandbox.snapshot();
        const ran = await sandbox.run('echo new >f; echo new >~/home; echo x >more');
        one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
        if (from === 'stopped') await litterbox.setRunState('a', 'stopped');
      });
      const job = { do: 'snapshot-restore', name: 'a', label: 's1' } as const;
      expect(await one.dying(job, { failpoints: `${point}=kill` })).toMatchObject({ signal: 'SIGKILL' });
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        expect((await litterbox.open('a')).record.state).toBe(await state(litterbox, 'a'));
        await litterbox.setRunState('a', 'ready');
        const sandbox = await litterbox.open('a');
        const { stdout, recorded } = await sandbox.run(look);
        expect({ stdout, revision: recorded.revision }).toEqual({
          stdout: expect.stringMatching(outcome === 'restored' ? /^old\nold\n(?![^]*more)/ : /^new\nnew\n[^]*more/),
          revision: undefined,
        });
        const subjects = (await sandbox.log()).map(({ subject }) => subject);
        expect(subjects.filter((subject) => subject === 'restore: snapshot s1')).toHaveLength(
          outcome === 'restored' ? 1 : 0,
        );
      });
      await expectInvariants(one, `killed at ${point}`);
    });
  });
});
