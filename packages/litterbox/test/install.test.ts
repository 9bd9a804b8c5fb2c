import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { isLitterboxError, type Progress } from '@litterbox/core';
import { localHost } from '@litterbox/host';
import { podman } from '@litterbox/provider-podman';
import { docker } from '@litterbox/provider-docker';
import type { Litterbox } from '../src/index.ts';
import { PROVIDER } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

/** Leaves a program, a number that another run would not leave, and what a package does with a user of its own. */
const INSTALL = `set -e
id -u; cat packages.txt >/usr/share/packages; cat /proc/sys/kernel/random/uuid >/usr/share/run
printf '#!/bin/sh\\necho the tool\\n' >/usr/local/bin/tool; chmod 755 /usr/local/bin/tool; chown 4242 /usr/share/packages
touch packages.txt 2>/dev/null && { echo the workspace can be written; exit 1; }; exit 0
`;
const CONFIG =
  '[container]\nbase-image = "busybox:latest"\ninstall-command = "mkdir -p /usr/local/bin /usr/share; sh tools/install.sh packages.txt"\n';
const FILES = { 'packages.txt': 'one\n', 'tools/install.sh': INSTALL, 'src/a.txt': 'a\n', '.litterbox.toml': CONFIG };

async function trusted(fixture: LibraryFixture): Promise<Litterbox> {
  const litterbox = fixture.open();
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  return litterbox;
}

async function create(litterbox: Litterbox, name: string, freshSetup = false) {
  const said: string[] = [];
  const onProgress = ({ message }: Progress) => void said.push(message);
  const sandbox = await litterbox.create({ name, freshSetup }, { onProgress });
  return { sandbox, hasInstalled: said.some((message) => message.startsWith('Installing:')) };
}

/** The provider itself, for what nobody asks of a Litterbox. */
async function engine({ stateDirectory }: LibraryFixture) {
  const host = localHost();
  const facts = await host.facts();
  return (PROVIDER === 'podman' ? podman : docker)({ host, facts, directory: stateDirectory });
}

/** Sandboxes go first: an image that one is made of stays. */
async function clear(fixture: LibraryFixture, keys: ReadonlySet<string>): Promise<void> {
  const litterbox = fixture.open();
  for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
  await using provider = await engine(fixture);
  for (const key of keys) await provider.images?.remove('busybox:latest', key);
}

/** The engine's own program. */
function byHand(...args: readonly string[]): string {
  const at =
    PROVIDER === 'podman' ? ['--url', `${process.env['CONTAINER_HOST']}`] : ['--host', `${process.env['DOCKER_HOST']}`];
  return execFileSync(PROVIDER, [...at, ...args], { encoding: 'utf8' }).trim();
}

const keyOf = ({ policy }: { readonly policy: { readonly root: object } }) =>
  (policy.root as { readonly installed: string }).installed;

if (PROVIDER === 'overlayfs')
  describe('what is to be installed into an image', () => {
    it('is refused where sandboxes have none', async () => {
      const config = '[container]\ninstall-command = "true"\n';
      await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': config });
      const litterbox = await trusted(fixture);
      await expect(litterbox.create({ name: 'one' })).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: 'container.install-command is not supported (provider overlayfs).',
      });
      expect(await litterbox.list()).toEqual([]);
    });
  });
else
  describe(`what is installed into an image, on ${PROVIDER}`, () => {
    it('is there in every sandbox, installed once for all that read the same', async () => {
      await using fixture = new LibraryFixture(FILES);
      const litterbox = await trusted(fixture);
      const keys = new Set<string>();
      const first = await create(litterbox, 'first');
      keys.add(keyOf(first.sandbox.record));
      expect(first.hasInstalled).toBe(true);
      const look = 'tool; cat /usr/share/packages /usr/share/run; touch /usr/x 2>/dev/null || echo read-only';
      const ran = await first.sandbox.run(`${look}; echo b >>src/a.txt`);
      expect(ran.stdout).toMatch(/^the tool\none\n[0-9a-f-]{36}\nread-only\n$/);
      expect(ran.recorded.changedFiles).toBe(1);
      expect((await litterbox.audit()).map(({ operation, outcome }) => `${operation} ${outcome}`)).toContain(
        'image-install ok',
      );

      // Another commit whose files that the commands read are the same, another program, a fork, and one that was lost.
      fixture.file('src/a.txt', 'other\n');
      fixture.git('commit', '-qam', 'two');
      const second = await create(fixture.open(), 'second');
      expect(second.hasInstalled).toBe(false);
      expect((await second.sandbox.run(look)).stdout).toBe(ran.stdout);
      const fork = await second.sandbox.fork();
      expect((await fork.run(look)).stdout).toBe(ran.stdout);
      await litterbox.recover('first', { force: true });
      expect((await first.sandbox.run(look)).stdout).toBe(ran.stdout);

      // What an agent commits is not what runs as root, before a person has taken it.
      await second.sandbox.files.write('packages.txt', 'evil\n');
      await second.sandbox.milestone('other packages');
      const from = await litterbox.create({ name: 'of-a-branch', from: 'litterbox/second' });
      expect((await from.run(`cat packages.txt; ${look}`)).stdout).toBe(`evil\n${ran.stdout}`);
      await second.sandbox.run('rm -f src/a.txt');

      // Another file that they read, and once more because somebody wants it.
      fixture.file('packages.txt', 'two\n');
      fixture.git('commit', '-qam', 'three');
      const third = await create(litterbox, 'third');
      keys.add(keyOf(third.sandbox.record));
      expect(third.hasInstalled).toBe(true);
      const other = await third.sandbox.run(look);
      expect(other.stdout).toContain('two\n');
      const fresh = await create(litterbox, 'fresh', true);
      expect(fresh.hasInstalled).toBe(true);
      expect((await fresh.sandbox.run(look)).stdout).not.toBe(other.stdout);
      expect((await third.sandbox.run(look)).stdout).toBe(other.stdout);
      expect(keys.size).toBe(2);

      // What somebody removed is installed again, as the person's own commit says it now.
      for (const name of ['second', 'second-2', 'of-a-branch', 'third', 'fresh'])
        await litterbox.delete(name, { force: true });
      await using provider = await engine(fixture);
      await provider.remove(first.sandbox.record.id, { keepPlayground: true });
      for (const key of keys) await provider.images?.remove('busybox:latest', key);
      expect(keyOf(await litterbox.recover('first'))).toBe(keyOf(third.sandbox.record));
      expect((await first.sandbox.run(look)).stdout).toContain('two\n');
      await clear(fixture, keys);
    });

    it('two creates at once install once', async () => {
      await using fixture = new LibraryFixture(FILES);
      const litterbox = await trusted(fixture);
      const both = await Promise.all([create(litterbox, 'one'), create(fixture.open(), 'two')]);
      expect(both.filter(({ hasInstalled }) => hasInstalled)).toHaveLength(1);
      const { sandbox, hasInstalled } = await create(litterbox, 'three');
      expect(hasInstalled).toBe(false);
      expect((await sandbox.run('tool')).stdout).toBe('the tool\n');
      await clear(fixture, new Set([keyOf(sandbox.record)]));
    });

    it('AX130: an image that somebody else made under the name of what was installed is not taken for it', async () => {
      await using fixture = new LibraryFixture(FILES);
      const litterbox = await trusted(fixture);
      const first = await create(litterbox, 'first');
      const keys = new Set([keyOf(first.sandbox.record)]);
      const names = () =>
        byHand('images', '--filter', 'reference=*litterbox-installed', '--format', '{{.Repository}}:{{.Tag}}')
          .split('\n')
          .filter((name) => name.includes(keyOf(first.sandbox.record)));
      const [name = ''] = names();
      expect((await create(litterbox, 'second')).hasInstalled).toBe(false); // positive control
      const theirs = byHand('create', name, 'true');
      try {
        // With all that ours has, its labels too, and one thing more.
        byHand('commit', '--change', 'ENV PATH=/evil', theirs, name);
      } finally {
        byHand('rm', '--force', theirs);
      }
      expect(names()).toEqual([name]);
      await using provider = await engine(fixture);
      expect(await provider.images?.has('busybox:latest', keyOf(first.sandbox.record))).toBe(false);
      const third = await create(litterbox, 'third');
      expect(third.hasInstalled).toBe(true);
      expect((await third.sandbox.run('echo $PATH; tool')).stdout).toMatch(/^(?!.*evil).*\nthe tool\n$/);
      expect((await create(litterbox, 'fourth')).hasInstalled).toBe(false);
      await clear(fixture, keys);
    });

    it('that fails makes no sandbox, tells the end of what was said, and leaves nothing', async () => {
      const failing =
        '[container]\nbase-image = "busybox:latest"\ninstall-command = "echo no such package >&2; exit 3"\n';
      await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': failing });
      const litterbox = await trusted(fixture);
      const error = await litterbox.create({ name: 'one' }).catch((caught: unknown) => caught);
      expect(isLitterboxError(error, 'SETUP_FAILED') && error.message).toBe(
        'The install command "echo no such package >&2; exit 3" failed with exit code 3:\n  | no such package',
      );
      expect(isLitterboxError(error) && error.details.hint).toBe(
        'Correct container.install-command and create the sandbox again.',
      );
      expect(await litterbox.list('all')).toEqual([]);
      await using provider = await engine(fixture);
      for await (const { id } of provider.list()) throw new Error(`${id} is left`);
      expect(await litterbox.reconcile()).toEqual([]);
    });
  });

if (PROVIDER !== 'overlayfs')
  describe(`an image with labels of Litterbox, on ${PROVIDER}`, () => {
    const KINDS = ['id', 'repository', 'sidecar', 'files', 'probe', 'clears'];

    it('AX121: is believed nothing, whatever is done to the sandbox that it names', async () => {
      await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
      const litterbox = fixture.open();
      const victim = await litterbox.create({ name: 'victim', image: 'busybox:latest' });
      await victim.run('echo victim >mark');
      const image = `litterbox-test/labels:${victim.id}`;
      const seed = byHand('create', 'busybox:latest', 'true');
      const theirs: string[] = [];
      try {
        byHand(
          'commit',
          ...KINDS.flatMap((kind) => ['--change', `LABEL dev.litterbox.${kind}=${victim.id}`]),
          seed,
          image,
        );
        const said: string[] = [];
        const other = await litterbox.create(
          { name: 'other', image },
          { onProgress: ({ message }) => void said.push(message) },
        );
        expect(said.join('\n')).toContain(`The image ${image} was made from the container of a sandbox`);
        await other.run('echo other >mark');
        // As a person starts one, which has the labels as they are: it is the newest that has them.
        theirs.push(byHand('run', '--detach', '--network', 'none', image, 'sleep', '600'));
        expect(byHand('inspect', '--format', '{{json .Config.Labels}}', theirs[0] ?? '')).toContain(victim.id);
        const running = () =>
          byHand('ps', '--no-trunc', '--quiet', '--filter', `label=dev.litterbox.id=${other.id}`).split('\n');
        const container = running();

        expect((await victim.run('cat mark')).stdout).toBe('victim\n');
        const listed = (await litterbox.list()).map(({ name, state }) => `${name} ${state}`);
        expect(listed.sort()).toEqual(['other ready', 'victim ready']);
        await litterbox.setRunState('victim', 'paused');
        expect((await other.run('cat mark')).stdout).toBe('other\n');
        await litterbox.setRunState('victim', 'ready');
        await litterbox.setRunState('victim', 'stopped');
        await litterbox.setRunState('victim', 'ready');
        expect((await victim.run('cat mark')).stdout).toBe('victim\n');
        await litterbox.delete('victim', { force: true });

        expect((await litterbox.list()).map(({ name }) => name)).toEqual(['other']);
        expect(running()).toEqual(container); // the same container, which runs
        expect((await other.run('cat mark')).stdout).toBe('other\n');
        expect(byHand('inspect', '--format', '{{.State.Running}}', theirs[0] ?? '')).toBe('true');
        const left = ['ps', '--all', '--quiet', '--filter', `volume=litterbox-${victim.id}`];
        expect(byHand(...left)).toBe('');
        await litterbox.delete('other', { force: true });
      } finally {
        for (const container of [seed, ...theirs]) byHand('rm', '--force', container);
        byHand('rmi', '--force', image);
      }
    });

    it('AX121: two containers of one sandbox are an error that names them, not a choice', async () => {
      await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'one', image: 'busybox:latest' });
      const label = `dev.litterbox.id=${sandbox.id}`;
      const own = byHand('ps', '--quiet', '--filter', `label=${label}`);
      const volume = `litterbox-${sandbox.id}:/other:ro`;
      const second = byHand('create', '--label', label, '--volume', volume, 'busybox:latest', 'true');
      try {
        const error = await litterbox.delete('one', { force: true }).catch((caught: unknown) => caught);
        expect(isLitterboxError(error, 'CONFLICT') && error.message).toContain(own);
        expect(isLitterboxError(error) && error.message).toContain(second.slice(0, 12));
      } finally {
        byHand('rm', '--force', second);
      }
      await litterbox.delete('one', { force: true });
      expect(byHand('ps', '--all', '--quiet', '--filter', `label=${label}`)).toBe('');
    });
  });
