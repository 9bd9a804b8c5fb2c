import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected, eventually, fixtureWorkspace } from '@litterbox/conformance';
import {
  type ChangeMark,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { ChangeScanner } from '@litterbox/sandbox-kit';
import { Fixture } from '@litterbox/testing';
import { FROZEN, MOST_ENTRIES, WANTS_FRESH_UPPER } from '../src/layers/fresh-upper.ts';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { rewritingHost } from './rewritten.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const BASE = fixtureWorkspace('f7e5f7e5', [
  { path: 'gone', content: 'gone\n' },
  { path: 'kept', content: 'kept\n' },
  { path: 'replaced/old', content: 'old\n' },
  { path: 'emptied/file', content: 'file\n' },
]);

/** Whatever a workspace can hold, said by a program inside: types, modes, numbers of links, times, targets and contents. */
const TELL = `find . -type d -printf '%P %m %T@\\n' | sort; find . ! -type d -printf '%P %y %m %n %T@ %l\\n' | sort; find . -type f -exec cksum {} + | sort`;

const EVERYTHING = `rm gone && rm -r replaced && mkdir replaced && echo new >replaced/new && rm emptied/file
echo more >>kept && echo one >linked && ln linked other && mkdir -p deep/er && ln linked deep/er/third
ln -s kept link && mkfifo fifo && mkdir -m 700 closed && echo x >closed/x && chmod 500 closed && mkdir 'a
b' && ln linked 'a
b/ -x'
truncate -s 1M sparse && chmod 755 link kept && touch -d '2001-02-03 04:05:06.789' kept deep deep/er && chmod 750 . && touch -d '2002-03-04 05:06:07.891' .`;

class FreshUpperFixture extends Fixture {
  readonly directory: string;
  readonly provider: SandboxProvider;

  private constructor(directory: string, provider: SandboxProvider) {
    super();
    this.directory = directory;
    this.provider = provider;
  }

  static async make(): Promise<FreshUpperFixture> {
    const directory = await backendDirectory('overlay');
    const host = localHost();
    const facts = await host.facts();
    const fixture = new FreshUpperFixture(directory, overlayfs({ host, facts, directory, strategy: 'overlay' }));
    fixture.defer(() => removeBackend(directory));
    // An ordinary user removes what programs left without permissions by the provider alone.
    fixture.defer(() => fixture.#removeAll());
    return fixture;
  }

  async #removeAll(): Promise<void> {
    const { provider } = this;
    for await (const { id } of provider.list()) await provider.remove(id);
    for await (const { name } of provider.snapshots?.list() ?? []) await provider.snapshots?.remove(name);
  }

  /** The same directory, where each script that holds the first text has the second in its place. */
  async through(from: string, to: string): Promise<SandboxProvider> {
    const local = localHost();
    const [host, facts] = [rewritingHost(local, (word) => word.replace(from, to)), await local.facts()];
    return overlayfs({ host, facts, directory: this.directory, strategy: 'overlay' });
  }

  async create(more: Partial<SandboxSpec> = {}): Promise<SandboxId> {
    const id = SandboxId.make();
    await using _runtime = await this.provider.create(
      sandboxSpec(id, { workspace: BASE, allowDegraded: true, ...more }),
    );
    return id;
  }

  /** Runs a script in a session of its own, which has ended by the time of the answer. */
  async ran(id: SandboxId, script: string, provider = this.provider): Promise<string> {
    await using runtime = await provider.open(id);
    return await output(runtime, script);
  }

  ask(id: SandboxId): void {
    writeFileSync(this.file(id, WANTS_FRESH_UPPER), '');
  }

  frozen(id: SandboxId): readonly string[] {
    return readdirSync(this.file(id, FROZEN));
  }

  file(id: SandboxId, name: string): string {
    return join(this.directory, 'overlayfs/sandboxes', id, name);
  }
}

async function output(runtime: SandboxRuntime, script: string): Promise<string> {
  const { exit, stdout, stderr } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  expect({ code: exit.code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Paths by what is told of them. */
async function told(runtime: SandboxRuntime, mark: ChangeMark | undefined) {
  const { next, changes } = await runtime.scan(mark);
  const files: string[] = [];
  const children = new Map<string, readonly string[]>();
  for await (const change of changes) {
    if (change.type === 'directory') children.set(change.path, change.children.map(({ name }) => name).toSorted());
    else files.push(change.path);
  }
  return { next, files: files.toSorted(), children };
}

describe('a fresh upper layer', () => {
  it('comes with the next session once the upper one holds many entries, and leaves them out of the look', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    let mark: ChangeMark;
    {
      await using runtime = await fixture.provider.open(id);
      await output(runtime, `seq -f f%g ${MOST_ENTRIES + 10} | xargs touch; mkdir many && touch many/one; sleep 0.1`);
      mark = (await told(runtime, undefined)).next;
      // It is asked for behind the answer.
      await eventually(
        async () => existsSync(fixture.file(id, WANTS_FRESH_UPPER)),
        (isAsked) => isAsked,
      );
      await output(runtime, 'echo early >early');
    }
    {
      await using runtime = await fixture.provider.open(id);
      const first = await told(runtime, mark);
      expect(fixture.frozen(id)).toEqual(['1']);
      expect(first.files).toContain('early');
      expect(first.files.length).toBeLessThan(10);
      await output(runtime, 'echo late >many/one; rm f1');
      const second = await told(runtime, first.next);
      expect(second.files).toEqual(['many/one']);
      expect(second.children.get('')).not.toContain('f1');
      const all = await told(runtime, undefined);
      expect(all.files).toEqual(expect.arrayContaining(['f2', `f${MOST_ENTRIES}`, 'many/one', 'early']));
      expect(all.children.get('')).not.toContain('f1');
    }
    await fixture.ran(id, 'true');
    expect(fixture.frozen(id)).toEqual(['1']);
  });

  it('shows the same files, with their times, links and what is gone', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    const before = await fixture.ran(id, `${EVERYTHING}\n${TELL}`);
    for (const layers of [['1'], ['1', '2']]) {
      fixture.ask(id);
      expect(await fixture.ran(id, TELL)).toBe(before);
      expect(fixture.frozen(id).toSorted()).toEqual(layers);
    }
    // Names of one file stay names of one file.
    expect(await fixture.ran(id, `echo two >>other; cat linked deep/er/third`)).toBe('one\ntwo\none\ntwo\n');
    expect(await fixture.ran(id, `rm -r replaced && mkdir replaced && ls -A replaced emptied`)).toBe(
      'emptied:\n\nreplaced:\n',
    );
  });

  it('hides nothing that was made in directories that could not be read before it', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    const close = 'mkdir closed && echo x >closed/made && chmod 000 closed && echo x >beside && chmod 300 .';
    let mark: ChangeMark;
    {
      await using runtime = await fixture.provider.open(id);
      await output(runtime, close);
      mark = (await told(runtime, undefined)).next;
    }
    fixture.ask(id);
    await fixture.ran(id, 'chmod 755 . closed');
    expect(fixture.frozen(id)).toEqual(['1']);
    await using runtime = await fixture.provider.open(id);
    const { files } = await told(runtime, mark);
    expect(files).toEqual(expect.arrayContaining(['beside', 'closed/made']));
  });

  it('tells what was in a directory that was moved before it, and touched after it', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    let mark: ChangeMark;
    {
      await using runtime = await fixture.provider.open(id);
      await output(runtime, 'mkdir a && echo one >a/one && sleep 0.1');
      mark = (await told(runtime, undefined)).next;
      await output(runtime, 'mv a b');
    }
    fixture.ask(id);
    await using runtime = await fixture.provider.open(id);
    await output(runtime, 'echo two >b/two');
    expect(fixture.frozen(id)).toEqual(['1']);
    expect((await told(runtime, mark)).files).toEqual(['b/one', 'b/two']);
  });

  it.each(['with', 'without'])('is told by the uppermost layer that has a path, %s Perl', async (perl) => {
    await using fixture = await FreshUpperFixture.make();
    const host = localHost();
    const place = (name: string) => join(fixture.directory, name);
    const layers = ['frozen/1/in-all', 'frozen/1/below', 'frozen/2/in-all', 'frozen/10/in-all', 'upper/in-all', 'ws'];
    for (const [size, name] of layers.entries()) {
      mkdirSync(place(dirname(name)), { recursive: true });
      if (name === 'ws') mkdirSync(place(name));
      else writeFileSync(place(name), 'x'.repeat(size));
    }
    const hasNone = perl === 'without';
    await using scanner = new ChangeScanner({
      host,
      stateFile: place('state.json'),
      changes: place('upper'),
      frozen: place('frozen'),
      workspace: place('ws'),
      spawn: async (spec, call) => {
        if (hasNone && spec.argv[0] === 'perl') throw new Error('There is no Perl.');
        return await host.spawn(spec, call);
      },
    });
    const sizes = async (mark?: ChangeMark) => {
      const found = [];
      const { next, changes } = await scanner.scan(mark);
      for await (const change of changes) if (change.type === 'file') found.push([change.path, change.sizeBytes]);
      return { next, found: found.toSorted() };
    };
    const first = await sizes();
    expect(first.found).toEqual([
      ['below', 1],
      ['in-all', 4],
    ]);
    rmSync(place('upper/in-all'));
    writeFileSync(place('frozen/10/in-all'), 'longer'); // nobody writes there: what a mark from before it would find
    chmodSync(place('frozen/10'), 0o755);
    expect((await sizes(first.next)).found).toContainEqual(['in-all', 6]);
  });

  it('goes with forks, forks of forks and snapshots', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    const { provider } = fixture;
    const before = await fixture.ran(id, `${EVERYTHING}\n${TELL}`);
    const name = (await provider.snapshots?.take(id)) ?? '';
    fixture.ask(id);
    await fixture.ran(id, 'echo above >above; rm kept');
    const after = await fixture.ran(id, TELL);
    const layered = (await provider.snapshots?.take(id)) ?? '';
    let last = id;
    for (const generation of [1, 2]) {
      const fork = await fixture.create({ copyOf: last });
      expect({ generation, told: await fixture.ran(fork, TELL) }).toEqual({ generation, told: after });
      fixture.ask(fork);
      await using runtime = await provider.open(fork);
      const { files, children } = await told(runtime, undefined);
      expect(files).toEqual(expect.arrayContaining(['above', 'linked', 'replaced/new']));
      expect(children.get('')).not.toContain('kept');
      last = fork;
    }
    expect(fixture.frozen(last)).toHaveLength(3);
    await provider.snapshots?.restore(id, name);
    expect({ told: await fixture.ran(id, TELL), frozen: fixture.frozen(id) }).toEqual({ told: before, frozen: [] });
    await provider.snapshots?.restore(id, layered);
    expect({ told: await fixture.ran(id, TELL), frozen: fixture.frozen(id) }).toEqual({ told: after, frozen: ['1'] });
  });

  it.each([
    ['before the fresh layer is filled', 'find upper -type f'],
    ['before the first rename', 'mv -T upper frozen/'],
    ['between the renames', 'mv -T upper.new upper && chmod'],
    ['after the second', 'chmod u+rwx frozen/'],
  ])('is there or not after a kill %s', async (_when, step) => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    const before = await fixture.ran(id, `${EVERYTHING}\n${TELL}`);
    fixture.ask(id);
    const killed = await fixture.through(step, `kill -9 -1; exit 137; ${step}`);
    await expect(fixture.ran(id, 'true', killed)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // Whoever copies it now finds all of it as well.
    const fork = await fixture.create({ copyOf: id });
    expect(await fixture.ran(fork, TELL)).toBe(before);
    expect(await fixture.ran(id, TELL)).toBe(before);
    expect(existsSync(fixture.file(id, 'upper'))).toBe(true);
  });

  it('is not made where it would be a ninth, or separate too many names of one file', async () => {
    await using fixture = await FreshUpperFixture.make();
    const id = await fixture.create();
    for (let round = 1; round <= 10; round += 1) {
      fixture.ask(id);
      await fixture.ran(id, `echo ${round} >file`);
    }
    expect(fixture.frozen(id)).toHaveLength(8);
    expect(await fixture.ran(id, 'cat file kept')).toBe('10\nkept\n');
    for (const links of [
      'for i in $(seq 501); do echo $i >a/$i; done', // too many files
      'for i in $(seq 300); do mkdir a/$i; echo $i >a/$i/file; done', // too many with their directories
    ]) {
      const linked = await fixture.create();
      await fixture.ran(linked, `mkdir a b; ${links}; cp -al a/. b`);
      fixture.ask(linked);
      await fixture.ran(linked, 'true');
      const rest = existsSync(fixture.file(linked, 'upper.new'));
      expect({ links, frozen: fixture.frozen(linked), rest }).toEqual({ links, frozen: [], rest: false });
    }
  });

  if (isRoot)
    it('is not made on a disk of its own, where what is deleted is free again', async () => {
      await using fixture = await FreshUpperFixture.make();
      const id = await fixture.create({ limits: { diskBytes: 64 * 2 ** 20 } });
      {
        await using runtime = await fixture.provider.open(id);
        await output(runtime, `seq -f f%g ${MOST_ENTRIES + 10} | xargs touch`);
        await told(runtime, undefined);
      }
      await fixture.ran(id, 'head -c 40M /dev/zero >big && rm big && head -c 40M /dev/zero >big');
      expect(fixture.frozen(id)).toEqual([]);
    });
});
