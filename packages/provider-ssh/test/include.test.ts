import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LitterboxError } from '@litterbox/core';
import { rsync } from '@litterbox/sync-rsync';
import { RemoteFixture, SshServer } from '@litterbox/testing';
import type { Litterbox, LitterboxOptions } from 'litterbox';
import { remoteLitterbox } from './remote-litterbox.ts';

type Sync = NonNullable<NonNullable<LitterboxOptions['parts']>['directorySync']>;

const MISSING: Sync = {
  sync: () => Promise.reject(new LitterboxError('TOOL_MISSING', 'There is no rsync.', { operation: 'sync' })),
};

/** A working tree here with what git ignores, and a machine over SSH. */
class IncludeFixture extends RemoteFixture {
  private constructor(server: SshServer) {
    super(server, { files: { 'src/a.txt': 'a\n', '.gitignore': 'node_modules/\nlink\n.env\nb?new\n' } });
    this.use(server);
    for (const [path, content] of [
      ['node_modules/one/index.js', '1\n'],
      ['node_modules/two/index.js', '2\n'],
      ['.env', 'KEY=x\n'],
      ['b\\new/\\141', 'named\n'],
    ] as const)
      this.file(path, content);
    execFileSync('mkfifo', [join(this.repository, 'node_modules/pipe')]);
    symlinkSync('one', join(this.repository, 'node_modules/link'));
  }

  static async open(): Promise<IncludeFixture> {
    return new IncludeFixture(await SshServer.startApart());
  }

  readonly litterbox = (directorySync: Sync): Promise<Litterbox> => remoteLitterbox(this, { parts: { directorySync } });

  get layers(): readonly string[] {
    return readdirSync(join(this.there, 'overlayfs', 'bases')).filter((name) => name.startsWith('a-'));
  }
}

const include = ['node_modules', '.env', 'b\\new'];
const LOOK =
  'cat node_modules/one/index.js node_modules/two/index.js .env b?new/*; readlink node_modules/link; ls node_modules; stat -c %Y node_modules/one/index.js';

describe('files of the working tree on another machine', () => {
  it.each([
    ['by rsync', rsync(), 9],
    ['by tar, where rsync is missing', MISSING, 0],
  ])(
    'come along with their times, %s, and again only when they changed',
    async (_how, real, most) => {
      await using fixture = await IncludeFixture.open();
      const old = new Date('2020-02-02T00:00:00Z');
      utimesSync(join(fixture.repository, 'node_modules/one/index.js'), old, old);
      const changed: number[] = [];
      const litterbox = await fixture.litterbox({
        async sync(source, target, options) {
          const report = await real.sync(source, target, { ...options, maxTold: 10 });
          changed.push(report.changedCount);
          return report;
        },
      });
      await using one = await litterbox.create({ name: 'one', include });
      const time = old.getTime() / 1000;
      expect((await one.run(LOOK)).stdout).toBe(`1\n2\nKEY=x\nnamed\none\nlink\none\ntwo\n${time}\n`);
      expect(await litterbox.changes('one')).toEqual([]);
      await one.run('echo mine >node_modules/one/index.js');
      await using two = await litterbox.create({ name: 'two', include });
      expect((await two.run('cat node_modules/one/index.js')).stdout).toBe('1\n');
      writeFileSync(join(fixture.repository, 'node_modules/two/index.js'), 'two\n');
      rmSync(join(fixture.repository, 'node_modules/link'));
      await using three = await litterbox.create({ name: 'three', include });
      expect((await three.run('cat node_modules/one/index.js node_modules/two/index.js')).stdout).toBe('1\ntwo\n');
      expect((await three.run('ls node_modules')).stdout).toBe('one\ntwo\n');
      if (real !== MISSING) expect(changed).toEqual([most, 1]);
      for (const name of ['one', 'two', 'three']) await litterbox.delete(name, { force: true });
    },
    120_000,
  );

  it('that change while they are brought are brought again, and refused when that does not end', async () => {
    await using fixture = await IncludeFixture.open();
    let count = 0;
    const litterbox = await fixture.litterbox({
      async sync(...what) {
        const report = await rsync().sync(...what);
        writeFileSync(join(fixture.repository, 'node_modules', `new-${(count += 1)}`), 'x');
        return report;
      },
    });
    await expect(litterbox.create({ name: 'one', include })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(count).toBe(3);
    expect(existsSync(join(fixture.there, 'overlayfs', 'sandboxes', 'one'))).toBe(false);
    expect(
      readdirSync(join(fixture.there, 'overlayfs', 'bases')).filter((name) => /^\.|unfinished/.test(name)),
    ).toEqual([]);
  }, 120_000);
});
