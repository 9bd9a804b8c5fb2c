import assert from 'node:assert/strict';
import { type Host, type SandboxRuntime } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import { PROC_DOORS, PROCESS_ONE_LIAR } from '../process-one-programs.ts';
import type { SandboxFixture, Check } from './suite.ts';

/** What holds whatever process 1 of a sandbox does: an agent has its user, and may trace it where the kernel lets it. */
export function processOne(check: Check): void {
  check('process 1 is traced and told to lie, and nothing outlives a stop', async (fixture) => {
    const runtime = await fixture.create();
    const left = await lied(fixture, runtime);
    await runtime.stop();
    assert.equal(await left(), 0, 'what ran before the stop');
    await runtime.start();
    // Nor does anything of before take what is asked for now.
    assert.equal((await fixture.sh(runtime, 'echo on')).stdout, 'on\n');
    assert.equal(await left(), 0, 'what ran before the stop, in the next session');
  });

  check('process 1 is traced and told to lie, and nothing outlives a removal', async (fixture) => {
    const runtime = await fixture.create();
    const left = await lied(fixture, runtime);
    await fixture.provider.remove(runtime.id);
    assert.equal(await left(), 0);
  });

  check('no link of a process leads out of the mounts that are there', async ({ create, sh }) => {
    const runtime = await create();
    if ((await sh(runtime, 'command -v perl')).exit.code !== 0) return; // there is nobody who could look
    // The positive control is what is held here: a file of its own that is open for writing, a directory and a program.
    const script = 'exec 5>held; perl -e "$1"';
    const { stdout, stderr } = await sh(runtime, '', { argv: ['sh', '-c', script, 'sh', PROC_DOORS] });
    const lines = stdout.trim().split('\n');
    assert.ok(Number(/^inside (\d+)$/.exec(lines.pop() ?? '')?.[1]) > 3, `positive control: ${stdout}${stderr}`);
    assert.deepEqual(lines, []);
  });
}

/** Starts what should not outlive the sandbox, and lets process 1 lie for it. Returns how to count, from outside, what of it is there. */
async function lied({ host, sh }: SandboxFixture, runtime: SandboxRuntime): Promise<() => Promise<number>> {
  const mark = crypto.randomUUID();
  const left = () => withArgument(host, mark);
  const process = await runtime.spawn({ argv: ['sh', '-c', 'trap "" HUP TERM; while :; do sleep 1; done', mark] });
  process.exit.catch(() => {}); // a process 1 that says that it has ended ends the session
  await eventually(left, (count) => count > 0);
  // Where nothing can trace, there is nobody who could make process 1 lie: what is asked after is asked all the same.
  if ((await sh(runtime, 'command -v perl && [ "$(uname -m)" = x86_64 ]')).exit.code !== 0) return left;
  const own = await sh(runtime, '', { argv: ['perl', '-e', PROCESS_ONE_LIAR, 'own'] });
  assert.equal(
    own.stdout,
    'traced own\n',
    `positive control: a process of its own is made to say what it did not: ${own.stderr}`,
  );
  await sh(runtime, '', { argv: ['perl', '-e', PROCESS_ONE_LIAR, '1'] }).catch(() => undefined);
  return left;
}

/** How many processes of the machine have this argument. */
async function withArgument(host: Host, argument: string): Promise<number> {
  // Not an argument of what looks for it.
  const pattern = `[${argument.slice(0, 1)}]${argument.slice(1)}`;
  const script = 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -cxe "$1"';
  return Number((await collected(await host.spawn({ argv: ['sh', '-c', script, 'sh', pattern] }))).stdout);
}
