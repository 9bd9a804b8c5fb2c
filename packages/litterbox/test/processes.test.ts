import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { LibraryFixture } from './library-fixture.ts';

function client(
  { repository, stateDirectory }: LibraryFixture,
  sandbox: string,
  count: number,
  what: 'write' | 'hang',
): ChildProcess {
  const program = new URL('client.ts', import.meta.url).pathname;
  return spawn(
    process.execPath,
    [
      '--no-warnings',
      '--conditions=@litterbox/source',
      program,
      repository,
      stateDirectory,
      sandbox,
      String(count),
      what,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  return text;
}

/** Process numbers of everything on this machine whose command line holds the text. */
function running(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        name !== String(process.pid) &&
        readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
      );
    } catch {
      return false;
    }
  });
}

describe('several programs on one repository', () => {
  it('five programs write into one sandbox at once: every acknowledged revision is there, in one line', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'busy' });
    const outputs = await Promise.all(
      Array.from({ length: 5 }, async () => await outputOf(client(fixture, 'busy', 6, 'write'))),
    );
    const acknowledged = outputs.flatMap((text) => text.trim().split('\n'));
    expect(acknowledged).toHaveLength(30);
    const log = await sandbox.log();
    expect(log.map(({ commit }) => commit).sort()).toEqual([...new Set(acknowledged)].sort());
    expect(log.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, index) => 30 - index));
    const store = `${fixture.stateDirectory}/repos`;
    for (const name of readdirSync(store)) {
      if (!existsSync(`${store}/${name}/store.git`)) continue;
      execFileSync('git', ['--git-dir', `${store}/${name}/store.git`, 'fsck', '--strict', '--no-dangling'], {
        stdio: 'pipe',
      });
    }
    fixture.git('fsck', '--strict');
  });

  it('a program killed while a command runs leaves no process in two seconds, and what was written is recorded by the next call', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'killed' });
    await sandbox[Symbol.asyncDispose](); // the other program is the only one in the sandbox
    const other = client(fixture, 'killed', 1, 'hang');
    let said = '';
    other.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually(
      async () => said,
      (text) => text.includes('written'),
      20_000,
    );
    expect(running(`${fixture.stateDirectory}/overlayfs`)).not.toEqual([]); // positive control
    other.kill('SIGKILL');
    await once(other, 'close');
    const killedAt = Date.now();
    await eventually(
      async () => running(`${fixture.stateDirectory}/overlayfs`),
      (found) => found.length === 0,
      30_000,
    );
    expect(Date.now() - killedAt).toBeLessThan(2_000);
    expect((await sandbox.run('echo next >next')).exitCode).toBe(0);
    const log = await sandbox.log();
    expect(log.map(({ subject }) => subject)).toEqual([
      'run: echo next >next',
      expect.stringMatching(/ \(interrupted\)$/),
    ]);
    expect((await litterbox.audit({ name: 'killed' })).map(({ outcome }) => outcome)).toContain('unknown');
  });

  it('a program killed while it creates leaves a name that can be used again', async () => {
    await using fixture = new LibraryFixture();
    const script = `import { createLitterbox } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
import { overlayfs } from ${JSON.stringify(new URL('../../provider-overlayfs/src/index.ts', import.meta.url).href)};
const litterbox = createLitterbox({ repo: ${JSON.stringify(fixture.repository)}, providers: [overlayfs], stateDirectory: ${JSON.stringify(fixture.stateDirectory)} });
await litterbox.create({ name: 'half' }, { onProgress: ({ step }) => { if (step === process.env.KILL_AT) process.kill(process.pid, 'SIGKILL'); } });
process.exit(7);`;
    // The base tree is unpacked the first time only.
    for (const step of ['base-tree', 'runtime', 'base']) {
      const child = spawn(
        process.execPath,
        ['--no-warnings', '--conditions=@litterbox/source', '--input-type=module', '-e', script],
        { env: { ...process.env, KILL_AT: step }, stdio: 'inherit', cwd: new URL('..', import.meta.url).pathname },
      );
      const [, signal] = (await once(child, 'close')) as [number | null, string | null];
      const litterbox = fixture.open();
      await litterbox.reconcile();
      expect(await litterbox.list()).toEqual([]);
      expect(signal).toBe('SIGKILL');
      const again = await litterbox.create({ name: 'half' });
      expect((await again.run('cat src/a.txt')).stdout).toBe('a\n');
      await litterbox.delete('half', { force: true });
    }
  });
});
