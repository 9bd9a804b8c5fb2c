import assert from 'node:assert/strict';
import { type ChangedPath, type ChangeMark, encodeRaw, type SandboxRuntime } from '@litterbox/core/provider';
import { eventually } from '../eventually.ts';
import type { FixtureFile } from '../fixture-workspace.ts';
import { type SandboxFixture, type Check, FIXTURE } from './suite.ts';
import type { Collected } from '../collected.ts';

/** What is known of a workspace after a number of scans, as a recorder would know it. */
class Known {
  readonly files = new Map<string, ChangedPath['type']>();
  mark: ChangeMark | undefined;
  /** What the last scan told. */
  last: ChangedPath[] = [];
  readonly #directory: string;

  /** @param directory the part of the workspace that is looked at; all of it without */
  constructor(directory = '') {
    this.#directory = directory;
  }

  async scan(runtime: SandboxRuntime): Promise<this> {
    const { next, changes } = await runtime.scan(this.mark);
    this.last = [];
    for await (const change of changes) {
      const path = this.#within(change.path);
      if (path !== undefined) this.last.push({ ...change, path });
    }
    for (const change of this.last)
      if (change.type === 'directory')
        this.#keepChildren(change.path, new Map(change.children.map(({ name, type }) => [name, type])));
    for (const change of this.last)
      if (change.type === 'file' || change.type === 'symlink' || change.type === 'special')
        this.files.set(change.path, change.type);
    this.mark = next;
    return this;
  }

  /** A path as seen from the directory; nothing for one outside of it. */
  #within(path: string): string | undefined {
    if (this.#directory === '') return path;
    if (path === this.#directory) return '';
    return path.startsWith(`${this.#directory}/`) ? path.slice(this.#directory.length + 1) : undefined;
  }

  /** A directory's list of children says what is gone. */
  #keepChildren(directory: string, children: ReadonlyMap<string, string>): void {
    const prefix = directory === '' ? '' : `${directory}/`;
    for (const path of this.files.keys()) {
      if (!path.startsWith(prefix)) continue;
      const rest = path.slice(prefix.length);
      const [child = ''] = rest.split('/');
      const type = children.get(child);
      if (type === undefined || (type === 'directory') !== rest.includes('/')) this.files.delete(path);
    }
  }
}

const BASE: readonly (readonly [string, ChangedPath['type']])[] = [
  ['README', 'file'],
  ['bin/tool', 'file'],
  ['link', 'symlink'],
  ['dir/a', 'file'],
  ['dir/sub/b', 'file'],
];

/** A scan may have contents at hand, or not. */
function withoutContent(change: ChangedPath): ChangedPath {
  if (change.type !== 'file') return change;
  const { content: _, ...rest } = change;
  return rest;
}

async function told(runtime: SandboxRuntime, mark: ChangeMark): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { type, path } of (await runtime.scan(mark)).changes) found.push(`${type} ${path}`);
  return found;
}

async function known(runtime: SandboxRuntime): Promise<Known> {
  const start = new Known();
  for (const [path, type] of BASE) start.files.set(path, type);
  return await start.scan(runtime);
}

/** Tests that share a sandbox: each works in a directory of its own, which holds the fixture as the base has it. */
const AREAS = 17;
const areaName = (number: number) => `area-${number}`;

/** The workspace of the shared sandbox. */
export const SHARED_FILES: readonly FixtureFile[] = Array.from({ length: AREAS }, (_, number) =>
  FIXTURE.map((file) => ({ ...file, path: `${areaName(number)}/${file.path}` })),
).flat();

interface Area {
  readonly state: Known;
  scan(): Promise<Known>;
  sh(script: string): Promise<Collected>;
}

async function areaOf({ shared, sh }: SandboxFixture, number: number): Promise<Area> {
  const runtime = await shared();
  const state = new Known(areaName(number));
  for (const [path, type] of BASE) state.files.set(path, type);
  await state.scan(runtime);
  return {
    state,
    scan: async () => await state.scan(runtime),
    sh: async (script) => await sh(runtime, script, { cwd: `${runtime.workdir}/${areaName(number)}` }),
  };
}

/** The scan must lead from any state to the state there is. */
export function changes(check: Check): void {
  let areas = 0;
  const checkInArea = (title: string, test: (area: Area) => Promise<void>) => {
    const number = areas;
    areas += 1;
    assert.ok(number < AREAS, 'the shared workspace has a directory for each test');
    check(title, async (fixture) => await test(await areaOf(fixture, number)));
  };
  const leads = (title: string, script: string, expected: (files: Map<string, ChangedPath['type']>) => void) =>
    checkInArea(title, async ({ state, scan, sh }) => {
      const wanted = new Map(state.files);
      const { exit, stderr } = await sh(script);
      assert.equal(exit.code, 0, stderr);
      await scan();
      expected(wanted);
      assert.deepEqual([...state.files].sort(), [...wanted].sort());
    });
  check('a new sandbox has no changes, and neither has one in which nothing happened', async ({ create, sh }) => {
    const runtime = await create();
    const state = await known(runtime);
    assert.deepEqual([...state.files].sort(), [...BASE].sort());
    await sh(runtime, 'cat README dir/a; ls -R >/dev/null');
    await state.scan(runtime);
    await state.scan(runtime);
    assert.deepEqual(state.last, []);
  });

  checkInArea('a changed file is told with its size and its executable bit', async ({ state, scan, sh }) => {
    await sh('echo longer text >>README; chmod +x dir/a; chmod -x bin/tool');
    await scan();
    const told = new Map(state.last.map((change) => [change.path, withoutContent(change)]));
    assert.deepEqual(told.get('README'), { type: 'file', path: 'README', sizeBytes: 20, executable: false });
    assert.deepEqual(told.get('dir/a'), { type: 'file', path: 'dir/a', sizeBytes: 2, executable: true });
    assert.deepEqual(told.get('bin/tool'), { type: 'file', path: 'bin/tool', sizeBytes: 20, executable: false });
  });

  checkInArea(
    'a content that is told with a change is what the file holds; what its owner may not read is not told',
    async ({ state, scan, sh }) => {
      const octal = '\\001\\002\\000\\000=\\377\\n\\001';
      const large = 'i=0; while [ $i -lt 9 ]; do printf "%10000d" 0; i=$((i+1)); done >large';
      await sh(`printf '${octal}' >odd; : >empty; ${large}; printf secret >closed; chmod 000 closed; ln -s README way`);
      await scan();
      const wanted = new Map([
        ['odd', Uint8Array.of(1, 2, 0, 0, 0x3d, 0xff, 10, 1)],
        ['empty', new Uint8Array()],
        ['large', encodeRaw(`${' '.repeat(9_999)}0`.repeat(9))],
      ]);
      const made = ['closed', 'empty', 'large', 'odd'];
      // What was written in the same tick of the kernel's clock as the scan before may be told once more.
      const told = state.last.flatMap((change) =>
        change.type === 'file' && made.includes(change.path) ? [change] : [],
      );
      assert.deepEqual(told.map(({ path }) => path).sort(), made);
      for (const { path, content } of told)
        if (content) assert.deepEqual(new Uint8Array(content), wanted.get(path), path);
    },
  );

  checkInArea('a change that keeps size and time is told', async ({ state, scan, sh }) => {
    await sh('touch -r README stamp; printf "READ ME\\n" >README; touch -r stamp README; rm stamp');
    await scan();
    assert.ok(state.last.some(({ path, type }) => path === 'README' && type === 'file'));
  });

  leads(
    'new files and directories',
    'mkdir -p new/deep && echo 1 >new/deep/file && echo 2 >top && ln -s nowhere dangling && mkdir empty',
    (files) => {
      files.set('new/deep/file', 'file').set('top', 'file').set('dangling', 'symlink');
    },
  );
  leads('deleted files and directories', 'rm README dir/a && rm -r dir/sub', (files) => {
    for (const path of ['README', 'dir/a', 'dir/sub/b']) files.delete(path);
  });
  leads('a file that came and went', 'echo x >dir/short && rm dir/short', () => {});
  leads('a directory that was renamed', 'mv dir moved', (files) => {
    for (const path of ['dir/a', 'dir/sub/b']) files.delete(path);
    files.set('moved/a', 'file').set('moved/sub/b', 'file');
  });
  leads('a directory replaced by another of the same name', 'rm -r dir && mkdir dir && echo new >dir/new', (files) => {
    for (const path of ['dir/a', 'dir/sub/b']) files.delete(path);
    files.set('dir/new', 'file');
  });
  leads(
    'a file replaced by a directory, a directory by a link, a link by a file',
    'rm README && mkdir README && echo x >README/in && rm -r dir && ln -s bin dir && rm link && echo x >link',
    (files) => {
      files.delete('README');
      files.set('README/in', 'file').set('dir', 'symlink').set('link', 'file');
      for (const path of ['dir/a', 'dir/sub/b']) files.delete(path);
    },
  );
  leads('fifos are told as special', 'mkfifo pipe && rm dir/a && mkfifo dir/a', (files) => {
    files.set('pipe', 'special').set('dir/a', 'special');
  });
  leads(
    'odd names',
    `printf x >'new
line'; printf x >"$(printf 'non-utf8-\\377')"; printf x >-rf; mkdir ' '; printf x >' / '; printf x >'*'`,
    (files) => {
      for (const path of ['new\nline', 'non-utf8-\udcff', '-rf', ' / ', '*']) files.set(path, 'file');
    },
  );
  leads('hard links and atomic replacement', 'ln README hard && echo new >tmp && mv tmp README', (files) => {
    files.set('hard', 'file');
  });

  checkInArea(
    'a directory moved away and back over several scans, with old files in it',
    async ({ state, scan, sh }) => {
      await sh('mkdir one two && echo 1 >one/file && echo 2 >two/file && mkdir one/deep && echo 3 >one/deep/file');
      await scan();
      await sh('mv one elsewhere');
      await scan();
      assert.ok(state.files.has('elsewhere/deep/file') && !state.files.has('one/file'));
      await sh('rm -r two && mv elsewhere two');
      await scan();
      assert.deepEqual([...state.files.keys()].filter((path) => /^(one|two|elsewhere)/.test(path)).sort(), [
        'two/deep/file',
        'two/file',
      ]);
      assert.ok(
        state.last.some(({ path }) => path === 'two/deep/file'),
        'content that came by a move is told, for it may differ',
      );
    },
  );

  check('many changes of many kinds, one scan after another', async ({ create, sh }) => {
    const runtime = await create();
    const state = await known(runtime);
    const listing = `find . -type f -o -type l -o -type p | sort`;
    for (let round = 0; round < 6; round += 1) {
      await sh(
        runtime,
        `mkdir -p r${round}/x && for i in 1 2 3 4 5 6 7 8 9; do echo ${round} >r${round}/$i; echo ${round} >r${round}/x/$i; done; rm -rf r${round - 2}; [ ! -d r${round - 1} ] || mv r${round - 1} m${round}; echo ${round} >>README; rm -f r${round}/x/3`,
      );
      await state.scan(runtime);
      const { stdout } = await sh(runtime, listing);
      assert.deepEqual(
        [...state.files.keys()].sort(),
        stdout
          .trim()
          .split('\n')
          .map((path) => path.slice(2))
          .sort(),
        `round ${round}`,
      );
    }
  });

  check('what changes while or after a scan is told by the next one', async ({ create, sh }) => {
    const runtime = await create();
    const state = await known(runtime);
    await using writer = await runtime.spawn({
      argv: ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo $i >count.$((i % 50)); echo $i >last; done'],
    });
    await eventually(
      async () => (await sh(runtime, 'cat last 2>/dev/null; :')).stdout,
      (text) => text !== '',
    );
    for (let round = 0; round < 10; round += 1) await state.scan(runtime);
    await writer[Symbol.asyncDispose]();
    await state.scan(runtime);
    const { stdout } = await sh(runtime, 'ls count.* last');
    for (const path of stdout.trim().split('\n')) assert.ok(state.files.has(path), path);
  });

  check('a mark means the same to another instance', async ({ create, another, sh }) => {
    const runtime = await create();
    const state = await known(runtime);
    await sh(runtime, 'mkdir there && echo 1 >there/file');
    await state.scan(runtime);
    await using other = await (await another()).open(runtime.id);
    await sh(other, 'echo 2 >there/second; mv there here');
    await state.scan(other);
    assert.deepEqual([...state.files.keys()].filter((path) => /here/.test(path)).sort(), ['here/file', 'here/second']);
    await sh(runtime, 'rm here/file');
    await state.scan(runtime);
    assert.ok(!state.files.has('here/file') && state.files.has('here/second'));
  });

  checkInArea('a scan that was not recorded is repeated by the same mark', async ({ state, scan, sh }) => {
    await sh('mkdir old && echo 1 >old/file');
    await scan();
    const before = state.mark;
    await sh('mv old new');
    await scan();
    state.mark = before;
    state.files.delete('new/file');
    await scan();
    assert.ok(state.files.has('new/file'));
  });

  check('a mark that was asked for means what comes after it', async ({ create, sh }) => {
    const runtime = await create();
    await sh(runtime, 'echo x >before; rm dir/a');
    // A change in the same tick of the clock may be told again, and a tick may be a second.
    const { mark } = await eventually(
      async () => {
        const moment = await runtime.mark();
        return { mark: moment, since: await told(runtime, moment) };
      },
      ({ since }) => since.length === 0,
    );
    await sh(runtime, 'echo x >after');
    const since = await told(runtime, mark);
    assert.ok(since.includes('file after') && !since.includes('file before'), since.join('\n'));
  });

  check('no mark means all since the base', async ({ create, sh }) => {
    const runtime = await create();
    const state = await known(runtime);
    await sh(runtime, 'echo 1 >one; rm README');
    await state.scan(runtime);
    const fresh = new Known();
    for (const [path, type] of BASE) fresh.files.set(path, type);
    await fresh.scan(runtime);
    assert.deepEqual([...fresh.files].sort(), [...state.files].sort());
  });

  check(
    'the playground, the home directory and temporary files are not part of the workspace',
    async ({ create, sh }) => {
      const runtime = await create();
      const state = await known(runtime);
      await sh(runtime, 'echo x >"$LITTERBOX_PLAYGROUND/f"; echo x >~/f; echo x >/tmp/f');
      await state.scan(runtime);
      assert.deepEqual([...state.files].sort(), [...BASE].sort());
    },
  );

  checkInArea('a directory that cannot be read is told, not passed over', async ({ state, scan, sh }) => {
    await sh('mkdir secret && echo x >secret/file && chmod 000 secret');
    await scan();
    assert.ok(
      state.last.some(({ type, path }) => (type === 'unreadable' && path === 'secret') || path === 'secret/file'),
    );
  });

  checkInArea(
    'what was written into a directory that cannot be read is told once it can be read again',
    async ({ state, scan, sh }) => {
      await sh('mkdir -p covered/deep && echo x >covered/file && echo x >covered/deep/file && chmod 000 covered');
      await scan();
      const first = state.last.map(({ path }) => path);
      await sh('echo between >between');
      await scan();
      await sh('chmod 755 covered');
      await scan();
      const told = [...first, ...state.last.map(({ path }) => path)];
      for (const path of ['covered/file', 'covered/deep/file'])
        assert.ok(told.includes(path), `${path} was never told`);
    },
  );

  checkInArea('two thousand changes in one scan', async ({ state, scan, sh }) => {
    await sh(
      'i=0; while [ $i -lt 40 ]; do mkdir m$i; j=0; while [ $j -lt 50 ]; do : >m$i/$j; j=$((j+1)); done; i=$((i+1)); done',
    );
    await scan();
    assert.equal(state.files.size, BASE.length + 2000);
  });
}
