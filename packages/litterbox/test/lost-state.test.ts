import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { LibraryFixture } from './library-fixture.ts';

function loseState(stateDirectory: string): void {
  for (const name of readdirSync(stateDirectory))
    if (name.startsWith('state.db') || name === 'audit.head') rmSync(join(stateDirectory, name));
}

describe('a state file that was lost', () => {
  it('takes no work with it: sandboxes are found again by their histories and runtimes', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': '[limits]\ntimeout = "90s"\n' });
    const before = fixture.open();
    const sandbox = await before.create({ name: 'kept' });
    await sandbox.run('echo one >one.txt');
    await (await before.create({ name: 'paused' })).run('echo two >two.txt');
    await before.setRunState('paused', 'stopped');
    const { id } = sandbox;
    await before[Symbol.asyncDispose]();
    loseState(fixture.stateDirectory);

    const after = fixture.open();
    expect(await after.list()).toEqual([]);
    expect(await after.reconcile()).toEqual([
      expect.stringMatching(
        /^The record of (kept|paused) was lost and has been rebuilt; the sandbox is (ready|stopped)\.$/,
      ),
      expect.stringMatching(
        /^The record of (kept|paused) was lost and has been rebuilt; the sandbox is (ready|stopped)\.$/,
      ),
    ]);
    expect(await after.reconcile()).toEqual([]);
    const listed = await after.list();
    expect(listed.map(({ name, state }) => `${name} ${state}`).sort()).toEqual(['kept ready', 'paused stopped']);
    const again = await after.open('kept');
    expect({ id: again.id, timeoutMs: again.record.policy.timeoutMs }).toEqual({ id, timeoutMs: 90_000 });
    expect((await again.log()).map(({ subject }) => subject)).toEqual(['run: echo one >one.txt']);
    const { stdout, recorded } = await again.run('cat one.txt; echo three >three.txt');
    expect({ stdout, number: recorded.revision?.number, changedFiles: recorded.changedFiles }).toEqual({
      stdout: 'one\n',
      number: 2,
      changedFiles: 1,
    });
    await after.setRunState('paused', 'ready');
    expect(new TextDecoder().decode(await (await after.open('paused')).files.read('two.txt'))).toBe('two\n');
    for (const { name } of listed) await after.delete(name, { force: true });
    expect(fixture.git('for-each-ref', 'refs/litterbox')).toBe('');
  });

  it('a sandbox whose runtime is gone as well is built from its last revision', async () => {
    await using fixture = new LibraryFixture();
    const before = fixture.open();
    const sandbox = await before.create({ name: 'kept' });
    await sandbox.run('echo one >one.txt');
    await before[Symbol.asyncDispose]();
    loseState(fixture.stateDirectory);
    await using provider = overlayfs({
      host: localHost(),
      facts: await localHost().facts(),
      directory: fixture.stateDirectory,
    });
    await provider.remove(sandbox.record.id); // its files may belong to users of its own
    const after = fixture.open();
    await after.reconcile();
    expect((await after.list()).map(({ state }) => state)).toEqual(['missing']);
    await after.recover('kept');
    expect(new TextDecoder().decode(await (await after.open('kept')).files.read('one.txt'))).toBe('one\n');
    await after.delete('kept', { force: true });
  });
});
