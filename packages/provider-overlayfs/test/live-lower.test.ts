import { execFileSync } from 'node:child_process';
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected } from '@litterbox/conformance';
import {
  type LiveLower,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { Fixture } from '@litterbox/testing';
import { overlayfs, type OverlayfsOptions } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const host = localHost();
const FILES = {
  'src/a': 'a\n',
  'src/b': 'b\n',
  'node_modules/dep/index.js': 'dep\n',
  '.env': 'secret\n',
  'app/.env.local': 'secret\n',
  'app/config': 'config\n',
  'app/tls.pem': '-----BEGIN PRIVATE KEY-----\nsecret\n',
  'app/ca.pem': '-----BEGIN CERTIFICATE-----\n',
  '.aws/credentials': 'secret\n',
  '.git/config': 'secret\n',
  'module/.git': 'gitdir: ../.git/modules/module\n',
  'module/file': 'of a module\n',
  'test/.env': 'shown\n',
};

/** A person's directory, and a provider whose sandboxes stand on it. */
class LiveFixture extends Fixture {
  readonly tree: string;
  readonly state: string;
  readonly provider: SandboxProvider;

  private constructor(directory: string, provider: SandboxProvider) {
    super();
    this.tree = join(directory, 'tree');
    this.state = join(directory, 'state');
    this.provider = provider;
  }

  static async make(more: Partial<OverlayfsOptions> = {}): Promise<LiveFixture> {
    const directory = await backendDirectory('overlay');
    const state = join(directory, 'state');
    const fixture = new LiveFixture(
      directory,
      overlayfs({ host, facts: await host.facts(), directory: state, ...more }),
    );
    fixture.defer(() => removeBackend(directory));
    fixture.defer(async () => {
      for await (const { id } of fixture.provider.list()) await fixture.provider.remove(id);
    });
    for (const [path, content] of Object.entries(FILES)) fixture.write(path, content);
    symlinkSync('src/a', join(fixture.tree, 'link'));
    return fixture;
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.tree, path)), { recursive: true });
    writeFileSync(join(this.tree, path), content);
  }

  get live(): LiveLower {
    return {
      directory: this.tree,
      hiddenPaths: [],
      shownPaths: ['test/.env'],
    };
  }

  async create(more: Partial<SandboxSpec> = {}): Promise<SandboxRuntime> {
    const id = SandboxId.make();
    const spec = sandboxSpec(id, { workdir: this.tree, live: this.live, allowDegraded: true, ...more });
    return this.use(await this.provider.create(spec));
  }

  /** Everything of the directory that its owner could notice, a line each. */
  digest(): readonly string[] {
    const found: string[] = [];
    const visit = (path: string) => {
      const { mode, uid, gid, mtimeMs, ctimeMs, ino } = lstatSync(join(this.tree, path));
      found.push([path, mode.toString(8), uid, gid, mtimeMs, ctimeMs, ino].join(' '));
      if ((mode & 0o170000) === 0o040000)
        for (const name of readdirSync(join(this.tree, path))) visit(join(path, name));
    };
    visit('');
    return found;
  }
}

async function sh(runtime: SandboxRuntime, script: string): Promise<string> {
  const { stdout, stderr, exit } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  return exit.code === 0 ? stdout : `[${exit.code ?? exit.signal}] ${stderr}`;
}

async function changed(runtime: SandboxRuntime): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { type, path } of (await runtime.scan(undefined)).changes)
    if (type !== 'directory') found.push(`${type} ${path}`);
  return found.sort();
}

const LOOK = 'find . -mindepth 1 ! -type d | sort';

describe('a workspace on a directory of the person', () => {
  it('shows what is there, what git ignores included, and none of what is hidden', async () => {
    await using fixture = await LiveFixture.make();
    const runtime = await fixture.create();
    expect(runtime.live).toBe(fixture.tree);
    expect((await sh(runtime, LOOK)).trim().split('\n')).toEqual([
      './app/ca.pem',
      './app/config',
      './link',
      './module/file',
      './node_modules/dep/index.js',
      './src/a',
      './src/b',
      './test/.env',
    ]);
    expect(await sh(runtime, 'cat link test/.env app/config; cat .git/config .env 2>&1 | grep -c secret')).toBe('[1] ');
    expect(await sh(runtime, 'cat link test/.env')).toBe('a\nshown\n');
    const { readable } = await runtime.assurance();
    expect(readable.map(({ path }) => path)).toContain(fixture.tree);
  });

  it('copies nothing, and writes nothing there, whatever is done inside', async () => {
    await using fixture = await LiveFixture.make();
    const before = fixture.digest();
    const runtime = await fixture.create();
    expect(readdirSync(join(fixture.state, 'overlayfs/bases'))).toEqual([]);
    const done = await sh(
      runtime,
      `set -e
echo more >>src/a; rm src/b; mv app moved; chmod 777 node_modules/dep/index.js; touch -h -d @1 link; touch module/file
ln module/file hard; echo own >.env; mkdir .git; echo mine >.git/config; : >node_modules/dep/new; truncate -s 0 test/.env
cat src/a .env .git/config; ls moved`,
    );
    expect(done).toBe('a\nmore\nown\nmine\nca.pem\nconfig\n');
    expect(fixture.digest()).toEqual(before);
    expect(readFileSync(join(fixture.tree, 'src/a'), 'utf8')).toBe('a\n');
    expect(await changed(runtime)).toEqual([
      'file .env',
      'file .git/config',
      'file hard',
      'file module/file',
      'file moved/ca.pem',
      'file moved/config',
      'file node_modules/dep/index.js',
      'file node_modules/dep/new',
      'file src/a',
      'file test/.env',
      'symlink link',
    ]);
    await runtime[Symbol.asyncDispose]();
    await fixture.provider.remove(runtime.id);
    expect(fixture.digest()).toEqual(before);
  });

  it('stays as it was left when the session ends, and what is secret by then is hidden from the next', async () => {
    await using fixture = await LiveFixture.make();
    const runtime = await fixture.create();
    await sh(runtime, 'echo more >>src/a; rm src/b');
    await runtime.stop();
    fixture.write('app/.env.production', 'secret\n');
    await runtime.start();
    expect(await sh(runtime, 'cat src/a; ls -A src app')).toBe('a\nmore\napp:\nca.pem\nconfig\n\nsrc:\na\n');
  });

  it('hides a name at the top also when the file comes later', async () => {
    await using fixture = await LiveFixture.make();
    rmSync(join(fixture.tree, '.env'));
    const runtime = await fixture.create();
    fixture.write('.env', 'secret\n');
    expect(await sh(runtime, 'ls -A | grep -c env || :; cat .env 2>/dev/null || echo none')).toBe('0\nnone\n');
  });

  it('is mounted in the session alone, and read-only', async () => {
    await using fixture = await LiveFixture.make();
    await fixture.create();
    const tables = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => {
        try {
          return readFileSync(`/proc/${name}/mountinfo`, 'utf8');
        } catch {
          return ''; // it ended meanwhile, or is somebody else's
        }
      });
    // The second of the paths is within the namespace, the first within the file system that is mounted.
    const mounts = new Set(tables.flatMap((table) => table.split('\n')).map((line) => line.split(' ').slice(3, 6)));
    const ours = [...mounts].filter(([from = '-']) => fixture.tree.endsWith(from) && from.endsWith('/tree'));
    expect(new Set(ours.map(([, at]) => at))).toEqual(new Set(['/run/live', '/run/base']));
    for (const [, , options = ''] of ours) expect(options.split(',')).toContain('ro');
    fixture.write('src/a', 'the person goes on\n');
  });

  it('is what a copy and a snapshot of the sandbox stand on', async () => {
    await using fixture = await LiveFixture.make();
    const runtime = await fixture.create();
    await sh(runtime, 'echo more >>src/a');
    const copy = await fixture.create({ copyOf: runtime.id });
    expect(await sh(copy, 'cat src/a src/b; cat .env 2>/dev/null || echo none')).toBe('a\nmore\nb\nnone\n');
    expect(copy.live).toBe(fixture.tree);
    const name = await fixture.provider.snapshots?.take(runtime.id);
    await sh(runtime, 'echo again >>src/a; rm src/b');
    await runtime[Symbol.asyncDispose]();
    await fixture.provider.snapshots?.restore(runtime.id, name ?? '');
    const again = fixture.use(await fixture.provider.open(runtime.id));
    expect(await sh(again, 'cat src/a src/b node_modules/dep/index.js')).toBe('a\nmore\nb\ndep\n');
  });

  it('is refused for a snapshot of a sandbox that stands on it, in one that does not', async () => {
    await using fixture = await LiveFixture.make();
    const runtime = await fixture.create();
    const name = await fixture.provider.snapshots?.take(runtime.id);
    await runtime[Symbol.asyncDispose]();
    await fixture.provider.remove(runtime.id, { keepPlayground: true });
    const again = await fixture.provider.create(sandboxSpec(runtime.id, { allowDegraded: true }));
    await again[Symbol.asyncDispose]();
    await expect(fixture.provider.snapshots?.restore(runtime.id, name ?? '')).rejects.toMatchObject({
      code: expect.stringMatching(/^(UNSUPPORTED|NOT_FOUND)$/),
    });
  });

  it('is refused where the state directory lies in it', async () => {
    await using fixture = await LiveFixture.make();
    const directory = dirname(fixture.tree);
    const created = fixture.create({ live: { ...fixture.live, directory } });
    await expect(created).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await expect(created).rejects.toThrow(/state directory lies in it/);
  });

  it('needs overlays', async () => {
    await using fixture = await LiveFixture.make();
    expect(fixture.provider.traits.liveStrategies).toEqual(['overlay']);
    await expect(fixture.create({ strategy: 'copy' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('strategy copy'),
    });
    for (const strategy of ['btrfs', 'zfs', 'reflink', 'copy'] as const) {
      await using copying = await LiveFixture.make({ strategy });
      expect({ strategy, ...copying.provider.traits }).not.toHaveProperty('liveStrategies');
    }
  });

  it('may have names that shells and mounts read otherwise', async () => {
    await using fixture = await LiveFixture.make();
    const directory = join(fixture.tree, "it's, a: [*]\n$(x)");
    for (const path of ['a', 'sub?/.env', 'sub?/[b]/.env']) fixture.write(join("it's, a: [*]\n$(x)", path), 'x\n');
    const live = { ...fixture.live, directory, shownPaths: ['sub?/.env'] };
    const runtime = await fixture.create({ workdir: '/src', live });
    expect(await sh(runtime, LOOK)).toBe('./a\n./sub?/.env\n');
  });
});

if (isRoot)
  describe('a workspace on a directory of another user', () => {
    it('has files of the sandbox, which stay those of their owner', async () => {
      await using fixture = await LiveFixture.make();
      execFileSync('chown', ['-R', '1234:1235', fixture.tree]);
      chownSync(join(fixture.tree, 'app/config'), 4321, 4321);
      const before = fixture.digest();
      const runtime = await fixture.create();
      expect(await sh(runtime, 'stat -c %U src/a src app; stat -c %U app/config; echo more >>src/a; cat src/a')).toBe(
        'agent\nagent\nagent\nnobody\na\nmore\n',
      );
      expect(fixture.digest()).toEqual(before);
    });

    it('can have a disk of its own, which bounds what is copied up', async () => {
      await using fixture = await LiveFixture.make();
      fixture.write('large', 'x'.repeat(24 * 2 ** 20));
      const runtime = await fixture.create({ limits: { diskBytes: 16 * 2 ** 20 } });
      expect(await sh(runtime, 'wc -c <large; echo more >>src/a; cat src/a')).toBe(`${24 * 2 ** 20}\na\nmore\n`);
      expect(await sh(runtime, 'echo more >>large')).toMatch(/No space left on device/);
    });
  });
