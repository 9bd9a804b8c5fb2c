import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { removeTree, scriptError } from '@litterbox/linux-sandbox';
import { Fixture } from '@litterbox/testing';
import { DATASET_USAGE } from './zfs-usage.ts';
import { zfs } from './zfs.ts';

const SET = 'litterbox-0b6c3d4e-0000-4000-8000-000000000000';
const MARK = `${SET} - 0\n`;

/** A machine whose programs for ZFS are scripts of the test's, which note how they are called. */
class ScriptedZfsFixture extends Fixture {
  readonly directory = mkdtempSync(join(tmpdir(), 'litterbox-zfs-'));
  readonly state = join(this.directory, 'state');

  constructor() {
    super();
    this.defer(() => rmSync(this.directory, { recursive: true, force: true }));
    mkdirSync(join(this.directory, 'bin'));
    mkdirSync(this.state);
    this.program('stat', 'echo zfs');
    this.program('findmnt', 'echo tank/state');
    this.program('zpool', 'echo ONLINE');
    this.program('zfs', ':');
    this.program('unshare', ':');
    this.program('id', 'echo 0');
    this.program('sleep', ':');
  }

  /** A directory of ours with a dataset: the base in the state directory, or that one. */
  marked(path = join(this.state, 'base.zfs'), mark = MARK): string {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'dataset'), mark);
    return path;
  }

  program(name: string, script: string): void {
    const file = join(this.directory, 'bin', name);
    writeFileSync(file, `#!/bin/sh\necho ${name} "$@" >>${this.directory}/calls\n${script}\n`);
    chmodSync(file, 0o755);
  }

  /** All calls of the program, in order. */
  calls(name: string): readonly string[] {
    try {
      const lines = readFileSync(join(this.directory, 'calls'), 'utf8').split('\n');
      return lines.filter((line) => line.startsWith(`${name} `));
    } catch {
      return [];
    }
  }

  run(script: string): { readonly code: number | null; readonly said: string } {
    const env = { ...process.env, PATH: `${this.directory}/bin:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
    return { code: status, said: `${stdout}${stderr}`.trim() };
  }

  probe(isRoot = true): ReturnType<ScriptedZfsFixture['run']> {
    return this.run(zfs.probe(this.state, isRoot));
  }

  remove(path: string): ReturnType<ScriptedZfsFixture['run']> {
    return this.run(`${removeTree(zfs.baseKind ? [zfs.baseKind] : [])}remove_tree '${path}'`);
  }
}

describe('probing for ZFS', () => {
  it('makes a dataset below the one that holds the directory, mounts it apart, and leaves nothing', async () => {
    await using fixture = new ScriptedZfsFixture();
    expect(fixture.probe()).toEqual({ code: 0, said: '' });
    expect(fixture.calls('zfs')).toEqual([
      expect.stringMatching(/^zfs create -o mountpoint=legacy .* tank\/state\/litterbox-[0-9a-f-]{36}$/),
      expect.stringMatching(/^zfs destroy tank\/state\/litterbox-[0-9a-f-]{36}$/),
    ]);
    expect(fixture.calls('unshare')).toHaveLength(1);
    expect(readdirSync(fixture.state)).toEqual([]);
  });

  it.each<readonly [why: string, program: string, script: string, isRoot: boolean, said: string]>([
    ['another file system', 'stat', 'echo ext2/ext3', true, 'is not on ZFS, but on ext2/ext3'],
    ['an ordinary user', 'stat', 'echo zfs', false, 'root alone mounts ZFS on Linux'],
    ['a suspended pool', 'zpool', 'echo SUSPENDED', true, 'the ZFS pool tank cannot be written to (SUSPENDED)'],
    ['a full pool', 'zfs', 'echo "cannot create: out of space" >&2; [ $1 != create ]', true, 'out of space'],
    ['no way to mount', 'unshare', 'echo "unknown filesystem type" >&2; exit 1', true, 'unknown filesystem type'],
  ])('says that there is %s, and leaves nothing', async (_why, program, script, isRoot, said) => {
    await using fixture = new ScriptedZfsFixture();
    fixture.program(program, script);
    expect(fixture.probe(isRoot)).toEqual({ code: 1, said: expect.stringContaining(said) });
    expect(readdirSync(fixture.state)).toEqual([]);
  });

  it('asks nothing of a pool that is suspended, which would answer nobody, and writes nothing to it', async () => {
    await using fixture = new ScriptedZfsFixture();
    fixture.program('mkdir', 'exit 1');
    fixture.probe();
    expect(fixture.calls('mkdir')).toHaveLength(1); // the control
    fixture.program('zpool', 'echo SUSPENDED');
    fixture.probe();
    expect(fixture.calls('mkdir')).toHaveLength(1);
    expect(fixture.calls('zfs')).toEqual([]);
  });

  it('says that the program is missing', async () => {
    await using fixture = new ScriptedZfsFixture();
    const script = zfs.probe(fixture.state, true).replace('command -v zfs', 'command -v no-such-program');
    expect(fixture.run(script)).toEqual({ code: 1, said: 'the program zfs is missing' });
  });
});

describe('datasets that a state directory left which somebody removed with rm', () => {
  it('are told; not those that something names, nor those of another place', async () => {
    await using fixture = new ScriptedZfsFixture();
    const places = ['bases/b.zfs', 'sandboxes/s/disk', 'setups/zfs/k/disk', 'snapshots/.unfinished-n/disk'];
    const setOf = (index: number) => SET.replace('0b6c3d4e', `0b6c3d4${index}`);
    const rows = places.map((place, index) => {
      fixture.marked(join(fixture.directory, place), MARK.replace(SET, setOf(index)));
      return `tank/state/${setOf(index)}\t${fixture.directory}/sandboxes/.unfinished-then/disk`;
    });
    const listing = (more: readonly string[]) => {
      writeFileSync(join(fixture.directory, 'rows'), ['tank/state\t-', ...rows, ...more, ''].join('\n'));
      fixture.program('zfs', `[ "$1" != list ] || cat '${fixture.directory}/rows'`);
    };
    listing([`tank/state/${setOf(8)}\t/elsewhere/overlayfs/bases/x`, `tank/state/${setOf(9)}\t-`]);
    const survey = () => fixture.run(zfs.survey?.script(fixture.directory) ?? 'false');
    expect(survey()).toEqual({ code: 0, said: '' });
    listing([`tank/state/${setOf(7)}\t${fixture.directory}/bases/.unfinished-x`]);
    expect(survey()).toEqual({
      code: 0,
      said: `datasets below tank/state without a directory that names them: 1. They were made below ${fixture.directory}, where a state directory was removed by hand`,
    });
  });
});

describe('a base of another commit', () => {
  it('is a clone of what was frozen of the nearest one', async () => {
    await using fixture = new ScriptedZfsFixture();
    const to = join(fixture.state, '.unfinished-x-whole');
    expect(fixture.run(zfs.copyBase?.(fixture.marked(), to) ?? 'false')).toEqual({ code: 0, said: '' });
    const [set = ''] = readFileSync(join(to, 'dataset'), 'utf8').split(' ');
    expect(set).toMatch(/^litterbox-/);
    expect(set).not.toBe(SET);
    const frozen = `tank/state/${SET}@${SET.slice('litterbox-'.length)}`;
    expect(fixture.calls('zfs')).toEqual([
      expect.stringMatching(new RegExp(`^zfs clone .* -o litterbox:made-at=${to} .* ${frozen} tank/state/${set}$`)),
    ]);
  });

  it('is mounted where the difference is put in, and no link in it is followed there', async () => {
    await using fixture = new ScriptedZfsFixture();
    fixture.program('mount', ':');
    const tree = fixture.marked();
    expect(fixture.run(zfs.baseKind?.files?.mount(tree) ?? 'false')).toEqual({ code: 0, said: '' });
    expect(fixture.calls('mount')).toEqual([
      `mount -t zfs -o nosuid,nodev,noatime tank/state/${SET} ${tree}`,
      `mount -o remount,bind,nosuid,nodev,nosymfollow ${tree}`,
    ]);
    fixture.program('mount', '[ "$1" = -t ]');
    expect(fixture.run(zfs.baseKind?.files?.mount(tree) ?? 'true').code).toBe(1);
  });

  it.each<readonly [what: string, program: string, script: string, code: string, hint: string]>([
    [
      'the quota above is reached',
      'zfs',
      `echo "cannot create 'tank/x': out of space" >&2; exit 1`,
      'DISK_FULL',
      'quota',
    ],
    ['the pool is suspended', 'zpool', 'echo SUSPENDED', 'UNAVAILABLE', 'zpool clear'],
    [
      'the nearest one has lost its dataset',
      'zfs',
      `echo "cannot open 'tank/x': dataset does not exist" >&2; exit 1`,
      'UNAVAILABLE',
      'probe()',
    ],
  ])('is not made where %s, which is said', async (_what, program, script, code, hint) => {
    await using fixture = new ScriptedZfsFixture();
    fixture.program(program, script);
    const result = fixture.run(zfs.copyBase?.(fixture.marked(), join(fixture.state, 'to')) ?? 'true');
    expect(result.code).toBe(1);
    expect(scriptError('provider.base-copy', 1, result.said)).toMatchObject({
      code,
      details: { hint: expect.stringContaining(hint) },
    });
  });
});

describe('a copy of a sandbox with a limit of disk', () => {
  it.each<readonly [what: string, referenced: number, quota: number, began: number]>([
    ['has the same quota', 4000, 5000, 1000],
    ['has one that holds what the sandbox wrote beyond its own, and the same limit', 5300, 5300, 1300],
  ])('%s', async (_what, referenced, quota, began) => {
    await using fixture = new ScriptedZfsFixture();
    const from = fixture.marked(join(fixture.state, 'disk'), `${SET} - 1000\n`);
    fixture.program('zfs', `case "$*" in *' refquota '*) echo 5000 ;; *' referenced '*) echo ${referenced} ;; esac`);
    const to = join(fixture.state, 'copy');
    expect(fixture.run(zfs.layers[0]?.copy(from, to) ?? 'false')).toEqual({ code: 0, said: '' });
    expect(fixture.calls('zfs').find((call) => call.startsWith('zfs clone'))).toContain(` -o refquota=${quota} `);
    expect(readFileSync(join(to, 'dataset'), 'utf8')).toMatch(new RegExp(`^litterbox-\\S+ ${SET}@\\S+ ${began}\n$`));
    expect(readdirSync(to)).toEqual(['dataset']);
  });
});

describe('what a snapshot takes', () => {
  const usage = (fixture: ScriptedZfsFixture, clones: string) => {
    fixture.marked(join(fixture.state, 'disk'));
    fixture.program(
      'zfs',
      `case "$*" in
*referenced,written*) printf '1000\\n30\\n' ;;
*' origin '*) echo tank/state/litterbox-1@x ;;
*defer_destroy,clones*) printf '${clones}\\n' ;;
*' used '*) echo 7 ;;
esac`,
    );
    return fixture.run(`usage() {\n${DATASET_USAGE}\n}\nusage '${fixture.state}/disk/'`);
  };

  it.each<readonly [what: string, clones: string, said: string]>([
    ['was written since the snapshot that it began with', 'off\\ntank/state/litterbox-2', '1000 30'],
    ['that snapshot holds for it alone', `on\\ntank/state/${SET}`, '1000 37'],
    ['not what it holds for others too', `on\\ntank/state/${SET},tank/state/litterbox-2`, '1000 30'],
  ])('is what %s', async (_what, clones, said) => {
    await using fixture = new ScriptedZfsFixture();
    expect(usage(fixture, clones)).toEqual({ code: 0, said });
  });

  it('is not guessed where the dataset does not tell', async () => {
    await using fixture = new ScriptedZfsFixture();
    fixture.marked(join(fixture.state, 'disk'));
    fixture.program('zfs', 'exit 1');
    expect(fixture.run(`usage() {\n${DATASET_USAGE}\n}\nusage '${fixture.state}/disk/'`)).toEqual({
      code: 1,
      said: '',
    });
  });
});

describe('beginning with a base', () => {
  it('lays what comes along into the clone, and bounds what is written on top of both', async () => {
    await using fixture = new ScriptedZfsFixture();
    const base = join(fixture.state, 'base.zfs');
    mkdirSync(base);
    writeFileSync(join(base, 'dataset'), MARK);
    fixture.program('zfs', '[ "$1" != get ] || echo 1000');
    const prepare = (artefacts: object) =>
      fixture.run(`cd '${fixture.state}' && ${zfs.prepare({ base, diskBytes: 5, ...artefacts })}`);
    const mark = () => readFileSync(join(fixture.state, 'disk/dataset'), 'utf8');

    expect(prepare({ artefacts: '/layer' })).toEqual({ code: 0, said: '' });
    const [set = ''] = mark().split(' ');
    expect(mark()).toBe(`${set} - 1000\n`);
    expect(fixture.calls('unshare')).toEqual([expect.stringMatching(/ disk \/layer ws$/)]);
    expect(fixture.calls('zfs')).toEqual([
      expect.stringMatching(/^zfs clone .* -o refquota=none .*0b6c3d4e.* tank\/state\/litterbox-/),
      `zfs get -H -p -o value referenced tank/state/${set}`,
      `zfs set refquota=1005 tank/state/${set}`,
    ]);

    expect(prepare({})).toEqual({ code: 0, said: '' }); // the control
    expect(fixture.calls('unshare')).toHaveLength(1);
    expect(fixture.calls('zfs').at(-1)).toMatch(/^zfs clone .* -o refquota=1005 /);
  });

  it('fails where what comes along cannot be laid into it', async () => {
    await using fixture = new ScriptedZfsFixture();
    const base = join(fixture.state, 'base.zfs');
    mkdirSync(base);
    writeFileSync(join(base, 'dataset'), MARK);
    fixture.program('unshare', 'echo "cp: No space left on device" >&2; exit 1');
    const script = zfs.prepare({ base, artefacts: '/layer', diskBytes: 5 });
    expect(fixture.run(`set -e; cd '${fixture.state}'\n${script}`)).toEqual({
      code: 1,
      said: expect.stringContaining('No space left on device'),
    });
    expect(fixture.calls('zfs')).toHaveLength(1);
  });
});

describe('removing a directory with a dataset', () => {
  it('destroys that one, wherever a sandbox or a restored snapshot has it, and then removes the directory', async () => {
    await using fixture = new ScriptedZfsFixture();
    const places = ['tree', 'tree/disk', 'tree/old-disk', 'tree/restored/disk', 'tree/restored/old-disk'];
    for (const [index, place] of places.entries()) {
      mkdirSync(join(fixture.state, place), { recursive: true });
      writeFileSync(join(fixture.state, place, 'dataset'), MARK.replace('0b6c3d4e', `0b6c3d4${index}`));
    }
    expect(fixture.remove(join(fixture.state, 'tree'))).toEqual({ code: 0, said: '' });
    expect(fixture.calls('zfs').toSorted()).toEqual(
      places.map((_place, index) => `zfs destroy tank/state/litterbox-0b6c3d4${index}-0000-4000-8000-000000000000`),
    );
    expect(readdirSync(fixture.state)).toEqual([]);
  });

  const refusing = (listed: string) => `case "$*" in
'destroy tank'*) echo "cannot destroy '$2': dataset is busy" >&2; exit 1 ;;
${listed}
esac`;

  it.each<readonly [what: string, program: string, script: string, code: string, hint: string]>([
    ['the pool is suspended', 'zpool', 'echo SUSPENDED', 'UNAVAILABLE', 'zpool clear'],
    ['something has it mounted', 'zfs', refusing(''), 'BUSY', `grep ${SET} /proc/[0-9]*/mountinfo`],
    [
      'a person made datasets in it',
      'zfs',
      refusing(`*filesystem,volume*) printf '%s\\n' "$9" "$9/of-a-person" ;;`),
      'CONFLICT',
      `grep ${SET}`,
    ],
    [
      'a person holds a snapshot of it',
      'zfs',
      refusing("*userrefs*) printf '0\\n1\\n' ;;"),
      'CONFLICT',
      `userrefs | grep ${SET}`,
    ],
  ])('keeps the directory when %s, and says so', async (_what, program, script, code, hint) => {
    await using fixture = new ScriptedZfsFixture();
    fixture.program(program, script);
    const tree = fixture.marked(join(fixture.state, 'tree'));
    const result = fixture.remove(tree);
    expect(result.code).toBe(1);
    expect(scriptError('provider.remove', 1, result.said)).toMatchObject({
      code,
      details: { hint: expect.stringContaining(hint) },
    });
    expect(readFileSync(join(tree, 'dataset'), 'utf8')).toBe(MARK);
  });

  it('hands what clones of it still need to one of them, and then destroys it', async () => {
    await using fixture = new ScriptedZfsFixture();
    const { directory } = fixture;
    fixture.program(
      'zfs',
      `case "$*" in
'destroy tank'*) [ -e ${directory}/promoted ] || { echo "cannot destroy '$2': filesystem has dependent clones" >&2; exit 1; } ;;
'list -H -d 1 -t snapshot -o name -S'*) printf '%s\\n' "\${11}@newer" "\${11}@frozen" ;;
*' clones '*frozen) echo tank/state/litterbox-next-base,tank/state/litterbox-sandbox ;;
*' clones '*) echo - ;;
promote*) : >${directory}/promoted ;;
esac`,
    );
    expect(fixture.remove(fixture.marked(join(fixture.state, 'tree')))).toEqual({ code: 0, said: '' });
    const calls = fixture.calls('zfs').map((call) => call.replaceAll('tank/state/', '').replaceAll(SET, 'SET'));
    expect(calls.filter((call) => /destroy|promote/.test(call))).toEqual([
      'zfs destroy SET',
      'zfs destroy -d SET@newer',
      'zfs destroy -d SET@frozen',
      'zfs promote litterbox-next-base',
      'zfs destroy SET',
    ]);
    expect(readdirSync(fixture.state)).toEqual([]);
  });

  it.each<readonly [what: string, make: string]>([
    ['a name that is none of ours', `mkdir made && echo 'bpool/home - 0' >made/dataset`],
    ['a name with a way up', `mkdir made && echo 'litterbox-../home - 0' >made/dataset`],
    ['a link to a directory of ours', 'mkdir made && ln -s ../ours made/disk'],
    ['a link to a mark of ours', 'mkdir made && ln -s ../ours/dataset made/dataset'],
    [
      'a link above one',
      'mkdir made above && mkdir above/disk && cp ours/dataset above/disk && ln -s ../above made/restored',
    ],
  ])('destroys nothing for %s', async (_what, make) => {
    await using fixture = new ScriptedZfsFixture();
    mkdirSync(join(fixture.state, 'ours'));
    writeFileSync(join(fixture.state, 'ours/dataset'), MARK);
    expect(fixture.run(`cd '${fixture.state}' && ${make}`).code).toBe(0);
    expect(fixture.remove(join(fixture.state, 'made'))).toEqual({ code: 0, said: '' });
    expect(fixture.calls('zfs')).toEqual([]);
    fixture.remove(join(fixture.state, 'ours')); // the control
    expect(fixture.calls('zfs')).toHaveLength(1);
  });

  if (process.getuid?.() === 0)
    it('destroys nothing for what belongs to the user inside', async () => {
      await using fixture = new ScriptedZfsFixture();
      const make = `mkdir -p made/disk && printf '${MARK.trim()}\\n' | tee made/dataset >made/disk/dataset && chown -R 61100:61100 made`;
      expect(fixture.run(`cd '${fixture.state}' && ${make}`).code).toBe(0);
      expect(fixture.remove(join(fixture.state, 'made'))).toEqual({ code: 0, said: '' });
      expect(fixture.calls('zfs')).toEqual([]);
    });
});
