import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import * as fc from 'fast-check';
import { rsync } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-sync-fuzz-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const host = localHost();

/** A tree as text by path: type and mode, with content or target. */
type Tree = ReadonlyMap<string, string>;

const name = fc
  .oneof(fc.constantFrom('a', 'b', 'c', '*', '[a]', '\\#101', ' -x', 'é\n'), fc.string({ minLength: 1, maxLength: 8 }))
  .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed());
const leaf = fc.oneof(
  fc.record({ content: fc.uint8Array({ maxLength: 40 }), mode: fc.constantFrom(0o644, 0o755, 0o600) }),
  fc.record({ link: fc.constantFrom('a', '../..', '/etc/passwd', 'nowhere') }),
  fc.constant('directory' as const),
);
const tree = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 3 }), leaf), { maxLength: 12 });

type Leaves = readonly (readonly [
  readonly string[],
  { content: Uint8Array; mode: number } | { link: string } | 'directory',
])[];

/** Makes as much of it as fits: a path below a file is left out. */
async function make(root: string, leaves: Leaves): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [names, what] of leaves) {
    const path = join(root, ...names);
    try {
      let above = root;
      for (const one of names.slice(0, -1)) {
        above = join(above, one);
        if ((await lstat(above).catch(() => undefined))?.isSymbolicLink()) throw new Error('a link is in the way');
      }
      await mkdir(dirname(path), { recursive: true });
      if (what === 'directory') await mkdir(path);
      else if ('link' in what) await symlink(what.link, path);
      else {
        await writeFile(path, what.content, { flag: 'wx' });
        await chmod(path, what.mode);
      }
    } catch {
      // something else is there
    }
  }
}

async function read(root: string): Promise<Tree> {
  const found = new Map<string, string>();
  // Without types Node goes into directories through links.
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(root.length + 1);
    const stat = await lstat(full);
    const what = stat.isSymbolicLink()
      ? await readlink(full)
      : stat.isDirectory()
        ? ''
        : (await readFile(full)).toString('hex');
    found.set(path, `${stat.mode.toString(8)} ${what}`);
  }
  return found;
}

describe('a sync', () => {
  it('makes any tree of any other, tells exactly what differs, and then tells nothing', async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        round += 1;
        const [source, target] = [join(directory, `source${round}`), join(directory, `target${round}`)];
        await make(target, before);
        await make(source, after);
        const [was, wanted] = [await read(target), await read(source)];
        const sync = () => rsync().sync({ host, path: source }, { host, path: target });
        const { changed, removed } = await sync();
        expect(await read(target)).toEqual(wanted);
        expect([...changed].sort()).toEqual(
          [...wanted.keys()].filter((path) => was.get(path) !== wanted.get(path)).sort(),
        );
        // What gave way to another type is told as changed, what was in it as removed.
        expect(removed.filter((path) => !wanted.has(path)).sort()).toEqual(
          [...was.keys()].filter((path) => !wanted.has(path)).sort(),
        );
        const again = await sync();
        expect({ changedCount: again.changedCount, removedCount: again.removedCount }).toEqual({
          changedCount: 0,
          removedCount: 0,
        });
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
