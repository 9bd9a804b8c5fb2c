import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** The setup names no source: a file that it names is in the key. Python knows a source by time and size alone. */
const SOURCES = {
  'src.txt': '1\n',
  'same.txt': 'same\n',
  'app.py': 'V = 1\n',
  Makefile: 'all: build/src\nbuild/src: src.txt\n\tcp src.txt $@\n',
  '.gitignore': 'build\n__pycache__\n',
  '.litterbox.toml':
    'pool = 1\n[container]\nsetup-command = "mkdir build; for f in s*.txt; do cp $f build/${f%.txt}; done; if command -v python3; then python3 -c \'import app\'; fi"\n',
};

describe(`field cases of setups, on ${PROVIDER}`, () => {
  it('FC-03: the text of a command and of a setup is run by bash where the sandbox has it, else by sh', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const sandbox = await fixture.open().create({ name: 'a', setup: 'mkdir -p ~/p/{a,b}; false | true' });
    const hasBash = (await sandbox.run(['sh', '-c', 'command -v bash'])).exitCode === 0;
    const both = hasBash ? 'a\nb\n' : '{a,b}\n';
    expect((await sandbox.run('ls ~/p')).stdout).toBe(both);
    expect(await sandbox.run('mkdir -p q/{a,b}; ls q')).toMatchObject({ stdout: both, shell: hasBash ? 'bash' : 'sh' });
    expect((await sandbox.run(['echo', '{a,b}'])).stdout).toBe('{a,b}\n');
  });

  it('FC-04: beside what a setup built, changed sources are newer and equal ones are not: create, fork, restore, pool', async () => {
    await using fixture = new LibraryFixture(SOURCES);
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    const first = await litterbox.create({ name: 'first' });
    const judge = async (sandbox: Sandbox) =>
      (
        await sandbox.run(
          'for f in src same; do if [ $f.txt -nt build/$f ]; then echo "$f is newer"; else echo "$f is built"; fi; done; stat -c %Y same.txt',
        )
      ).stdout.split('\n');
    const [src, same, time] = await judge(first);
    expect([src, same]).toEqual(['src is built', 'same is built']);
    const commit = (text: string) => {
      fixture.file('src.txt', text);
      fixture.file('app.py', `V = ${text}`);
      fixture.git('commit', '-qam', 'next');
    };
    commit('2\n');
    const steps: string[] = [];
    const second = await litterbox.create(
      { name: 'second' },
      { onProgress: ({ message }) => void steps.push(message) },
    );
    expect(steps).toContain('Set up already: taking what the same setup left before');
    const newer = ['src is newer', 'same is built', time, ''];
    expect(await judge(second)).toEqual(newer);
    expect(await second.diff()).toBe('');
    if (PROVIDER === 'overlayfs') {
      // The real thing, where it is installed.
      const built = await second.run('make -s; cat build/src; python3 -c "import app; print(app.V)"');
      expect(built).toMatchObject({ stdout: '2\n2\n', stderr: '' });
      await second.run('rm build/src; cp -p same.txt build/src');
    }
    const fork = await second.fork();
    expect((await fork.run('[ src.txt -nt build/same ] && cat src.txt')).stdout).toBe('2\n');
    await second.run('echo 3 >src.txt; touch -d "2001-01-01 00:00" build/src');
    await litterbox.restore('second', '0');
    expect((await second.run('[ src.txt -nt build/src ] && cat src.txt')).stdout).toBe('2\n');
    commit('4\n');
    await litterbox.fillPool();
    const pooled = await litterbox.create({ name: 'pooled' }, { onProgress: ({ step }) => void steps.push(step) });
    expect(steps).toContain('pool');
    expect(await judge(pooled)).toEqual(newer);
    await litterbox.clearPool();
  });
});
