// A machine of its own, with systemd and control groups version 2: `sh tools/test-vm.sh ssh -- ...`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { openSshHost, ssh, stateDirectory } from '@litterbox/provider-ssh';
import { RemoteFixture, type SshLogin } from '@litterbox/testing';
import { createLitterbox, type Litterbox } from 'litterbox';

/** Of the machine, see `tools/test-vm/ssh.sh`. */
const place = process.env['LITTERBOX_TEST_MACHINE'] ?? '';
if (place === '') throw new Error('There is no machine: run this by `sh tools/test-vm.sh ssh -- ...`.');
const port = readFileSync(join(place, 'port'), 'utf8').trim();

function login(user: string): SshLogin {
  const home = join(place, 'home');
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, '.ssh/known_hosts'), readFileSync(join(place, 'known_hosts')));
  return {
    destination: `${user}@127.0.0.1:${port}`,
    identityFile: join(place, 'key'),
    client: { home, environment: {} },
  };
}

class SecondMachine extends RemoteFixture {
  readonly #login: SshLogin;

  constructor(user: string) {
    super({ login: login(user) }, { files: { 'src/a.txt': 'a\n', '.gitignore': 'built/\n' } });
    this.#login = login(user);
  }

  /** With its sandboxes where they are when nobody says where. */
  readonly litterbox = (): Promise<Litterbox> =>
    this.program({
      openProvider: () => ssh({ ...this.#login, provider: overlayfs, kind: 'overlayfs', name: 'box' }),
      openLibrary: createLitterbox,
    });
}

const USERS = ['root', 'litterbox-test'];

describe('a second machine', () => {
  it.each(USERS)(
    'does the main job for %s, with every limit',
    async (user) => {
      await using here = new SecondMachine(user);
      const litterbox = await here.litterbox();
      await using sandbox = await litterbox.create({ name: 'work' });
      const controls = sandbox.record.assurance?.controls ?? [];
      for (const name of ['memory', 'cpu', 'processes'])
        expect(controls.find((control) => control.name === name)).toMatchObject({ status: 'enforced' });
      const { stdout } = await sandbox.run('cat /proc/sys/kernel/hostname /sys/fs/cgroup/pids.max; echo b >src/b.txt');
      expect(stdout).toMatch(/\n512\n$/);
      expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['src/b.txt']);
      await litterbox.setRunState('work', 'paused');
      await litterbox.setRunState('work', 'ready');
      const fork = await sandbox.fork({ name: 'fork' });
      expect((await fork.run('cat src/b.txt')).stdout).toBe('b\n');
      await litterbox.delete('fork', { force: true });
      await litterbox.merge('work');
      expect(readFileSync(join(here.repository, 'src/b.txt'), 'utf8')).toBe('b\n');
      expect(await litterbox.list()).toEqual([]);
    },
    900_000,
  );

  it('starts again, and the sandbox is as it was', async () => {
    await using here = new SecondMachine('root');
    const litterbox = await here.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    await sandbox.run('echo kept >kept.txt; mkdir built; echo too >built/too.txt');
    const call = sandbox.run('sleep 600');
    call.catch(() => {}); // it is awaited below
    const other = await openSshHost(login('root'));
    const { bootId } = await other.facts();
    await using reboot = await other.spawn({ argv: ['systemctl', 'reboot', '--force', '--force'] });
    await expect(reboot.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const said = await eventually(
      async () =>
        await sandbox.run('cat kept.txt built/too.txt').then(
          ({ stdout }) => stdout,
          ({ code }: { readonly code: string }) => code,
        ),
      (outcome) => outcome !== 'UNAVAILABLE',
      600_000,
    );
    expect(said).toBe('kept\ntoo\n');
    const again = await openSshHost(login('root'));
    expect((await again.facts()).bootId).not.toBe(bootId);
    expect(stateDirectory(again.environment, '/root')).toBe('/root/.local/state/litterbox');
    await litterbox.delete('work', { force: true });
    for (const host of [other, again]) await host[Symbol.asyncDispose]();
  }, 900_000);
});
