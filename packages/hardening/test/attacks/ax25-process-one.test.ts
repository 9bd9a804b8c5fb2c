// What an agent does to process 1 of its own sandbox, and by the links of /proc.
import { spawnSync } from 'node:child_process';
import { describe, expect } from '@jest/globals';
import { eventually, PROC_DOORS, PROCESS_ONE_LIAR } from '@litterbox/conformance';
import type { Litterbox, Sandbox } from 'litterbox';
import { type AttackFixture, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { processesWith } from './processes-with.ts';

const attackOnX64 = process.arch === 'x64' ? attack : () => {};

/** A process of the sandbox that should not outlive it, and a process 1 that lies for it. Returns what to look for outside. */
async function lies(fixture: AttackFixture, sandbox: Sandbox): Promise<string> {
  const mark = crypto.randomUUID();
  await fixture.run(sandbox, `sh -c 'trap "" HUP TERM; while :; do sleep 1; done' ${mark} >/dev/null 2>&1 & :`);
  await eventually(
    async () => processesWith(mark),
    (found) => found.length > 0,
  );
  const own = await fixture.run(sandbox, ['perl', '-e', PROCESS_ONE_LIAR, 'own']);
  positiveControl('tracing a process of its own', own.stdout, (text) => text === 'traced own\n');
  // A process 1 that says that it has ended ends the session, and the call with it.
  await fixture.run(sandbox, ['perl', '-e', PROCESS_ONE_LIAR, '1']).catch(() => undefined);
  return mark;
}

const ENDS: Readonly<Record<string, (litterbox: Litterbox, name: string) => Promise<unknown>>> = {
  stop: (litterbox, name) => litterbox.setRunState(name, 'stopped'),
  deletion: (litterbox, name) => litterbox.delete(name, { force: true }),
};

describe('process 1 of a sandbox', () => {
  for (const [what, end] of Object.entries(ENDS))
    attackOnX64(`AX25: process 1 is traced and told to lie, and nothing outlives a ${what}`, async (fixture) => {
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      const mark = await lies(fixture, sandbox);
      await end(litterbox, 'a');
      expect(processesWith(mark)).toEqual([]);
    });

  attackOnX64('AX25: process 1 lies, and the next session is not the old one', async (fixture) => {
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const mark = await lies(fixture, sandbox);
    await litterbox.setRunState('a', 'stopped');
    await litterbox.setRunState('a', 'ready');
    const { stdout } = await fixture.run(sandbox, 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"; echo on');
    expect(stdout).toMatch(/^on$/m);
    expect(stdout).not.toContain(mark);
    expect(processesWith(mark)).toEqual([]);
  });

  attack('AX26: no link of /proc leads to what can be written or changed outside', async (fixture) => {
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout } = await fixture.run(sandbox, ['sh', '-c', 'exec 5>held; perl -e "$1"', 'sh', PROC_DOORS]);
    const lines = stdout.trim().split('\n');
    const inside = Number(/^inside (\d+)$/.exec(lines.pop() ?? '')?.[1]);
    positiveControl('links that lead somewhere', inside, (count) => count > 3);
    expect(lines).toEqual([]);
    const modes = () =>
      spawnSync('sh', ['-c', 'stat -Lc "%n %a %s" "$(command -v bwrap)" /bin/sh'], { encoding: 'utf8' }).stdout;
    const before = modes();
    const tried = await fixture.run(
      sandbox,
      `exec 5>>held
for l in /proc/[0-9]*/exe /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/fd/*; do chmod 1777 "$l"; if [ -f "$l" ]; then echo AX26 >>"$l"; fi; done 2>/dev/null
stat -c %a held; cat held`,
    );
    positiveControl('a file of its own', tried.stdout, (text) => text.startsWith('1777\nAX26\n'));
    expect(modes()).toBe(before);
    const own = onTheHost(['find', fixture.scratch.stateDirectory, '-type', 'f', '-perm', '-1000']).stdout;
    expect(
      own
        .trim()
        .split('\n')
        .filter((path) => !path.endsWith('/held')),
    ).toEqual([]);
  });
});
