import { expect, test } from '@jest/globals';
import type { BaseDescription, LargeFileState, SubmoduleState } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
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

const over = (
  files: Readonly<Record<string, string>>,
  submodules: readonly SubmoduleState[] = [],
  described: BaseDescription = { tags: [] },
  largeFiles: readonly LargeFileState[] = [],
) =>
  ({
    submodules: async () => submodules,
    largeFiles: async () => largeFiles,
    describe: async () => described,
    contentIds: async (_tree: string, isWanted: (path: string) => boolean) =>
      new Map(Object.entries(files).filter(([path]) => isWanted(path))),
  }) as unknown as SourceRepository;

const changed = (more: object, policy: object = {}) =>
  ({ ...RECORD, ...more, policy: { ...RECORD.policy, ...policy } }) as SandboxRecord;

/** The three names under which what a setup leaves may be kept, by what it left. */
async function namesOf(files: Readonly<Record<string, string>>, record: SandboxRecord, isShared = true) {
  const keys = await setupKeys(over(files), record, isShared);
  if (!keys) throw new Error('There is a setup.');
  return {
    keys,
    exact: keys.keptUnder({ isSilent: false, touchesBase: true }),
    general: keys.keptUnder({ isSilent: false, touchesBase: false }),
    silent: keys.keptUnder({ isSilent: true, touchesBase: false }),
  };
}

test('without a setup there are no keys, without an installation none either', async () => {
  expect(await setupKeys(over(FILES), changed({}, { setup: [] }), true)).toBeUndefined();
  expect(await installKey(over(FILES), RECORD)).toBeUndefined();
  expect(await installKey(over(FILES), changed({}, { install: [['a']], root: { type: 'machine' } }))).toBeUndefined();
});

test('a file that no setup reads changes only the exact key', async () => {
  const before = await namesOf(FILES, RECORD);
  const after = await namesOf({ ...FILES, 'src/a.ts': 'a2' }, changed({ baseTree: 't2' }));
  expect(after.general).toBe(before.general);
  expect(after.silent).toBe(before.silent);
  expect(after.exact).not.toBe(before.exact);
});

test('all that a setup depends on changes the general key', async () => {
  const seen = new Set([(await namesOf(FILES, RECORD)).general]);
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
  for (const [files, record] of others) seen.add((await namesOf(files, record)).general);
  expect(seen.size).toBe(others.length + 1);
});

test('the three keys differ, are safe as names, and are what a sandbox may begin with', async () => {
  const { keys, exact, general, silent } = await namesOf(FILES, RECORD);
  expect(new Set([exact, general, silent]).size).toBe(3);
  expect(keys.wanted).toEqual([exact, silent, general]);
  for (const key of keys.wanted) expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(keys.wanted.map((key) => keys.isExact(key))).toEqual([true, false, false]);
  expect(keys.wanted.map((key) => keys.isSilent(key))).toEqual([false, true, false]);
});

test('what an agent asked for is kept for its own base alone, whatever it left', async () => {
  const persons = await namesOf(FILES, RECORD);
  const agents = await namesOf(FILES, RECORD, false);
  expect({ exact: agents.exact, general: agents.general, silent: agents.silent }).toEqual({
    exact: persons.exact,
    general: persons.exact,
    silent: persons.exact,
  });
  expect(agents.keys.wanted).toEqual(persons.keys.wanted);
});

test('a setup whose network was withheld finds what one with it left, and hides nothing under the same names', async () => {
  const open = { setup: 'allow-list', run: 'none', allow: ['a.org'] };
  const whole = await namesOf(FILES, changed({}, { network: open }));
  const withheld = await namesOf(FILES, changed({}, { network: { ...open, setup: 'none', isWithheld: true } }));
  expect(withheld.keys.wanted).toEqual([withheld.exact, ...whole.keys.wanted]);
  expect(whole.keys.wanted).not.toContain(withheld.exact);
  expect(withheld.general).toBe(withheld.exact);
});

test('what is installed depends on the image and on what the commands read, not on the base', async () => {
  const install = { install: [['pip', 'install', '-r', 'requirements.txt']] };
  const files = { ...FILES, 'requirements.txt': 'q1' };
  const before = await installKey(over(files), changed({}, install));
  expect(await installKey(over({ ...files, README: 'r2' }), changed({ baseTree: 't2' }, install))).toBe(before);
  expect(await installKey(over({ ...files, 'requirements.txt': 'q2' }), changed({}, install))).not.toBe(before);
});

test('another commit of a submodule, a content of Git LFS that is here, and another tag where a repository tells it, are another setup', async () => {
  const general = async (repository: SourceRepository, record: SandboxRecord) =>
    (await setupKeys(repository, record, true))?.keptUnder({ isSilent: false, touchesBase: false });
  const lib = (commit: string, missing?: string) =>
    ({ path: 'lib', commit, ...(missing !== undefined && { missing }) }) as SubmoduleState;
  const large = (isHere: boolean): LargeFileState => ({ path: 'a.bin', sha256: 'aa', sizeBytes: 1, isHere });
  const names = await Promise.all([
    general(over(FILES), RECORD),
    general(over(FILES, [lib('c1', 'it is not initialised here')]), RECORD),
    general(over(FILES, [lib('c1')]), RECORD),
    general(over(FILES, [lib('c2')]), RECORD),
    general(over(FILES, [], undefined, [large(false)]), RECORD),
    general(over(FILES, [], undefined, [large(true)]), RECORD),
  ]);
  expect(names[1]).toBe(names[0]);
  expect(names[4]).toBe(names[0]);
  expect(new Set(names).size).toBe(4);
  const tag = { tags: [{ name: 'v1', distance: 0, isAnnotated: false }] };
  const throwaway = changed({}, { workspaceGit: 'throwaway' });
  expect(await general(over(FILES, [], tag), RECORD)).toBe(names[0]);
  expect(await general(over(FILES, [], tag), throwaway)).not.toBe(await general(over(FILES), throwaway));
});
