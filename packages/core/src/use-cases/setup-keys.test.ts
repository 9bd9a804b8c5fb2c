import { expect, test } from '@jest/globals';
import type { SourceRepository } from '../ports/source-control.ts';
import type { SandboxRecord } from '../ports/state-store.ts';
import { installKey, setupKeys } from './setup-keys.ts';

const FILES = { 'package.json': 'p1', 'src/a.ts': 'a1', README: 'r1' };
const RECORD = {
  repositoryId: 'r',
  provider: 'p',
  workdir: '/src',
  baseTree: 't1',
  policy: {
    root: { type: 'image', reference: 'debian:12' },
    environment: {},
    setup: [['npm', 'ci']],
    workspaceGit: 'none',
    network: { setup: 'none', run: 'none' },
  },
} as unknown as SandboxRecord;

const over = (files: Readonly<Record<string, string>>) =>
  ({
    contentIds: async (_tree: string, isWanted: (path: string) => boolean) =>
      new Map(Object.entries(files).filter(([path]) => isWanted(path))),
  }) as unknown as SourceRepository;

const changed = (more: object, policy: object = {}) =>
  ({ ...RECORD, ...more, policy: { ...RECORD.policy, ...policy } }) as SandboxRecord;

test('without a setup there are no keys, without an installation none either', async () => {
  expect(await setupKeys(over(FILES), changed({}, { setup: [] }))).toBeUndefined();
  expect(await installKey(over(FILES), RECORD)).toBeUndefined();
  expect(await installKey(over(FILES), changed({}, { install: [['a']], root: { type: 'machine' } }))).toBeUndefined();
});

test('a file that no setup reads changes only the exact key', async () => {
  const before = await setupKeys(over(FILES), RECORD);
  const after = await setupKeys(over({ ...FILES, 'src/a.ts': 'a2' }), changed({ baseTree: 't2' }));
  expect(after?.general).toBe(before?.general);
  expect(after?.silent).toBe(before?.silent);
  expect(after?.exact).not.toBe(before?.exact);
});

test('all that a setup depends on changes the general key', async () => {
  const seen = new Set([(await setupKeys(over(FILES), RECORD))?.general]);
  const others: readonly (readonly [Readonly<Record<string, string>>, SandboxRecord])[] = [
    [{ ...FILES, 'package.json': 'p2' }, RECORD],
    [{ ...FILES, dist: 'd' }, RECORD],
    [FILES, changed({ repositoryId: 'other' })],
    [FILES, changed({ provider: 'other' })],
    [FILES, changed({ workdir: '/other' })],
    [FILES, changed({}, { environment: { A: '1' } })],
    [FILES, changed({}, { setup: [['npm', 'install']] })],
    [FILES, changed({}, { root: { type: 'image', reference: 'debian:13' } })],
    [FILES, changed({}, { network: { setup: 'allow-list', run: 'none', allow: ['a.org'] } })],
  ];
  for (const [files, record] of others) seen.add((await setupKeys(over(files), record))?.general);
  expect(seen.size).toBe(others.length + 1);
});

test('the three keys differ, and are safe as names', async () => {
  const keys = await setupKeys(over(FILES), RECORD);
  const all = [keys?.exact, keys?.general, keys?.silent];
  expect(new Set(all).size).toBe(3);
  for (const key of all) expect(key).toMatch(/^[0-9a-f]{64}$/);
});

test('what is installed depends on the image and on what the commands read, not on the base', async () => {
  const install = { install: [['pip', 'install', '-r', 'requirements.txt']] };
  const files = { ...FILES, 'requirements.txt': 'q1' };
  const before = await installKey(over(files), changed({}, install));
  expect(await installKey(over({ ...files, README: 'r2' }), changed({ baseTree: 't2' }, install))).toBe(before);
  expect(await installKey(over({ ...files, 'requirements.txt': 'q2' }), changed({}, install))).not.toBe(before);
});
