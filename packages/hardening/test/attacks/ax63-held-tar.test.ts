// Our own programs among the agent's: they run as the same user, who may stop them.
import { describe, expect } from '@jest/globals';
import { attack } from './attack.ts';

const STOP_EVERY_TAR = `while :; do for p in /proc/[0-9]*; do
{ read -r name <$p/comm && [ "$name" = tar ] && kill -STOP "\${p#/proc/}"; } 2>/dev/null
done; done >/dev/null 2>&1 &`;
/** 900 KB: a few small files come with the look, without a tar. */
const MANY = 'mkdir -p many; i=0; while [ $i -lt 900 ]; do printf %01000d $i >many/$i; i=$((i+1)); done';

describe('programs of ours that are stopped', () => {
  attack('AX63: a tar that an agent stops holds a call for a minute, and no longer', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    await fixture.run(sandbox, ['sh', '-c', STOP_EVERY_TAR]);
    const startMs = performance.now();
    await expect(sandbox.run(MANY)).rejects.toMatchObject({ code: 'SNAPSHOT_FAILED' });
    expect(performance.now() - startMs).toBeLessThan(5 * 60_000);
    // Once nobody holds it up any more, what changed is recorded.
    await fixture.open().setRunState('a', 'stopped');
    const next = fixture.open();
    await next.setRunState('a', 'ready');
    await (await next.open('a')).run('true');
    expect((await next.changes('a')).filter(({ path }) => path.startsWith('many/'))).toHaveLength(900);
    expect(await fixture.achieved()).toEqual([]);
  });
});
