import { expect, jest, test } from '@jest/globals';
import type { Context } from '../context.ts';
import { Talk } from '../terminal/talk.ts';
import { presented } from './machine.ts';

const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u202e';

/** What a command shows of what a machine says, as a terminal gets it. */
async function shownBy(present: (context: Context) => Promise<void>, answer: unknown): Promise<string> {
  let shown = '';
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    shown += String(text);
    return true;
  });
  const performer = { perform: async () => answer };
  const context = {
    talk: new Talk({ json: false, quiet: false, color: false }),
    signal: new AbortController().signal,
    litterbox: async () => performer,
  } as unknown as Context;
  try {
    await present(context);
  } finally {
    write.mockRestore();
  }
  return shown;
}

const record = {
  slug: 'a',
  provider: 'overlayfs@box',
  workdir: `/src${HOSTILE}`,
  policy: { network: { setup: 'none', run: 'none' } },
  assurance: {
    mechanism: `overlay${HOSTILE}`,
    controls: [{ name: 'network', status: 'absent', finding: `none${HOSTILE}`, remedy: `nothing${HOSTILE}` }],
    readable: [{ path: `/usr${HOSTILE}`, reason: `programs${HOSTILE}` }],
    masked: [HOSTILE],
    unreachable: [{ path: HOSTILE, target: HOSTILE }],
  },
};

test('AX84: explain shows what a machine says of a sandbox, and a terminal obeys none of it', async () => {
  const present = presented['sandbox-explain'].present;
  const shown = await shownBy((context) => present(context, {}), { record, state: 'ready', shell: 'sh' });
  expect(shown).toContain('workspace at /src\\x1b]0;owned');
  expect(shown).toMatch(/^[ -~\n…]*$/);
});

test('doctor is quiet about an engine that is not installed, where another provider can be used', async () => {
  const absent = {
    name: 'engine',
    status: 'failed',
    finding: 'No Docker engine was found.',
    remedy: 'Install',
    isAbsent: true,
  };
  const missing = { provider: 'docker', report: { usable: false, checks: [absent] } };
  const usable = { provider: 'overlayfs', report: { usable: true, checks: [] } };
  const shown = (reports: readonly object[]) =>
    shownBy((context) => presented['machine-check'].present(context, {}), reports);
  expect(await shown([usable, missing])).toMatch(/^overlayfs: usable\ndocker: not installed\n$/m);
  await expect(shown([missing])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('explain says of a sandbox in a container that nothing of the machine is readable', async () => {
  const contained = { ...record, assurance: { mechanism: 'Docker', controls: [], readable: [] } };
  const present = presented['sandbox-explain'].present;
  const shown = await shownBy((context) => present(context, {}), { record: contained, state: 'ready' });
  expect(shown).toMatch(/^Readable inside, of box: nothing$/m);
});

test('AX84: doctor shows what a machine says of itself, and a terminal obeys none of it', async () => {
  const checks = [{ name: 'tools', status: 'failed', finding: `none${HOSTILE}`, remedy: `install${HOSTILE}` }];
  const reports = [{ provider: 'overlayfs@box', report: { usable: true, checks } }];
  const shown = await shownBy((context) => presented['machine-check'].present(context, {}), reports);
  expect(shown).toContain('install\\x1b]0;owned');
  expect(shown).toMatch(/^[ -~\n…→]*$/);
});
