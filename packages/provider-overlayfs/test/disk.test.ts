import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collected, eventually, fixtureWorkspace } from '@litterbox/conformance';
import { type Host, SandboxId, type SandboxRuntime, type SandboxSpec } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { rewritingHost, rewritten } from './rewritten.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { sessionHolders } from './session-holders.ts';

const MIB = 2 ** 20;
const host = localHost();
let directory = '';
beforeAll(async () => {
  directory = await backendDirectory('overlay');
});
afterAll(() => removeBackend(directory));

const specOf = (id: SandboxId, more: Partial<SandboxSpec> = {}): SandboxSpec =>
  sandboxSpec(id, { limits: { diskBytes: 16 * MIB }, ...more });

async function sh(runtime: SandboxRuntime, script: string): Promise<string> {
  const { stdout, stderr, exit } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  return exit.code === 0 ? stdout : `[${exit.code ?? exit.signal}] ${stderr}`;
}

const imageOf = (id: SandboxId) => join(directory, 'overlayfs/disks', id);

/** Loop devices of this test's sandboxes, those of files that were removed included. */
function loops(): readonly string[] {
  return readdirSync('/sys/block')
    .filter((name) => name.startsWith('loop'))
    .flatMap((name) => {
      try {
        return [readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').trim()];
      } catch {
        return []; // it holds no file
      }
    })
    .filter((file) => file.startsWith(directory));
}

/** What a check of a file system finds, which changes nothing. */
function damageOf(image: string): string {
  const { status, stdout, stderr } = spawnSync('e2fsck', ['-fn', image], { env: SYSTEM_PATH, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

const SYSTEM_PATH = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };

/**
 * Waits until a disk is mounted nowhere. By the file and not by its path: while the last mount namespace goes, the kernel tells a path
 * without what lies above the mount, and the file system is not closed yet.
 */
async function nobodyHas(id: SandboxId): Promise<void> {
  await eventually(
    async () => execFileSync('losetup', ['-j', imageOf(id)], { env: SYSTEM_PATH, encoding: 'utf8' }),
    (devices) => devices === '',
  );
}

// Nobody else can have one: what an ordinary user is told instead is below.
if (isRoot)
  describe('the disk of a sandbox', () => {
    it('is mounted nowhere on the machine, is let go of with the session, and goes with the sandbox', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const id = SandboxId.make();
      const runtime = await provider.create(specOf(id));
      expect(await sh(runtime, 'echo kept >file; cat file')).toBe('kept\n');
      expect(loops()).toEqual([imageOf(id)]); // positive control
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(id);
      expect(statSync(imageOf(id)).mode & 0o777).toBe(0o600);
      expect(await sh(runtime, 'ls /dev; ls -d /run/disk /proc/1/root/run/disk 2>&1; true')).not.toMatch(
        /loop|run\/disk$/m,
      );
      const { controls } = await runtime.assurance();
      expect(controls.find(({ name }) => name === 'disk')).toMatchObject({
        status: 'enforced',
        finding: expect.stringMatching(/^workspace, home and playground hold at most 1[0-6] MiB together$/),
      });
      await runtime.stop();
      await eventually(
        async () => loops(),
        (now) => now.length === 0,
      );
      await runtime.start();
      expect(await sh(runtime, 'cat file')).toBe('kept\n');
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
      expect(existsSync(imageOf(id))).toBe(false);
      await eventually(
        async () => loops(),
        (now) => now.length === 0,
      );
    });

    it('is whole after its supervisor was killed', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const id = SandboxId.make();
      const runtime = await provider.create(specOf(id));
      for (const round of ['0', '1', '2']) {
        expect(await sh(runtime, `echo ${round} >>rounds; head -c 4000000 /dev/zero >filler`)).toBe('');
        const supervisors = sessionHolders(id);
        expect(supervisors.length).toBeGreaterThan(0); // kill without a pid, or with 0, would end this test
        execFileSync('sh', ['-c', 'kill -9 "$@"; :', 'sh', ...supervisors.map(String)], {
          env: SYSTEM_PATH,
          stdio: 'ignore', // the last may go with the ones before
        });
      }
      expect(await sh(runtime, 'cat rounds')).toBe('0\n1\n2\n');
      await runtime[Symbol.asyncDispose]();
      await nobodyHas(id);
      expect(damageOf(imageOf(id))).toBe('');
      await provider.remove(id);
    });

    it('is never on two loop devices', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const id = SandboxId.make();
      const runtime = await provider.create(specOf(id));
      const start = async () => {
        await runtime.start();
        return await sh(runtime, 'echo up').catch((error: Error) => error.message);
      };
      const attach = () => execFileSync('losetup', ['-f', imageOf(id)], { env: SYSTEM_PATH });
      await runtime.stop();
      await nobodyHas(id);
      attach();
      try {
        expect(await start()).toBe('up\n');
        expect(loops()).toEqual([imageOf(id)]);
        await runtime.stop();
        while (loops().length < 2) attach(); // the one that was mounted went with the mount
        expect(await start()).toContain('in use by something else');
      } finally {
        execFileSync('sh', ['-c', 'for d in $(losetup -n -O NAME -j "$0"); do losetup -d $d; done', imageOf(id)], {
          env: SYSTEM_PATH,
        });
      }
      await nobodyHas(id);
      expect(await start()).toBe('up\n');
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    });

    it('keeps the playground for the sandbox that follows, and that alone; what was deleted is the host’s again', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const id = SandboxId.make();
      const first = await provider.create(specOf(id));
      await sh(
        first,
        'echo old >file; echo old >$HOME/file; echo kept >$LITTERBOX_PLAYGROUND/file; head -c 9000000 /dev/zero >filler; sync',
      );
      const held = () => statSync(imageOf(id)).blocks * 512;
      expect(held()).toBeGreaterThan(9_000_000);
      await sh(first, 'rm filler; sync');
      // While it is mounted: a kernel that unmounts gives up what it has not given back yet (ext4_discard_work).
      await eventually(
        async () => held(),
        (bytes) => bytes < 2_000_000,
      );
      await first[Symbol.asyncDispose]();
      await provider.remove(id, { keepPlayground: true });
      const second = await provider.create(specOf(id));
      expect(await sh(second, 'ls -A . $HOME; cat $LITTERBOX_PLAYGROUND/file')).toBe('.:\n\n/home/agent:\nkept\n');
      await second[Symbol.asyncDispose]();
      await provider.remove(id);
      expect(existsSync(imageOf(id))).toBe(false);
    });

    it('holds what changes on top of a kept setup, which is not counted; its own setup is kept for nobody', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const [plain, bounded, third] = [SandboxId.make(), SandboxId.make(), SandboxId.make()];
      const [key, other] = ['a'.repeat(64), 'b'.repeat(64)];
      const first = await provider.create(specOf(plain, { limits: {} }));
      await sh(first, 'echo set >made; echo set >$HOME/made; head -c 30000000 /dev/zero >large');
      await provider.setups?.keep(plain, key);
      const second = await provider.create(specOf(bounded, { prepared: [key] }));
      expect(second.prepared).toBe(key);
      expect(await sh(second, 'cat made $HOME/made; wc -c <large; rm large; echo more >>made; cat made')).toBe(
        'set\nset\n30000000\nset\nmore\n',
      );
      expect(await sh(second, 'head -c 30000000 /dev/zero >$HOME/fill')).toMatch(/No space left on device/);
      await provider.setups?.keep(bounded, other);
      const last = await provider.create(specOf(third, { limits: {}, prepared: [other] }));
      expect(last.prepared).toBeUndefined();
      for (const runtime of [first, second, last]) {
        await runtime[Symbol.asyncDispose]();
        await provider.remove(runtime.id);
      }
    });

    it('is DEGRADED where a directory would not be on it', async () => {
      const loose = rewritingHost(host, (word) => word.replace('for name in upper home', 'for name in upper'));
      await using provider = overlayfs({ host: loose, facts: await loose.facts(), directory });
      await expect(provider.create(specOf(SandboxId.make()))).rejects.toMatchObject({
        code: 'DEGRADED',
        message: expect.stringContaining('not bounded: /home/agent'),
      });
      await eventually(
        async () => loops(),
        (now) => now.length === 0,
      );
    });

    it('holds a copied workspace whole, or refuses it and leaves nothing', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const files = [{ path: 'large', content: 'x'.repeat(24 * MIB) }];
      const workspace = fixtureWorkspace('d1d1d1d1', files);
      const [id, small] = [SandboxId.make(), SandboxId.make()];
      const limits = { diskBytes: 48 * MIB };
      const runtime = await provider.create(specOf(id, { strategy: 'copy', workspace, limits }));
      expect(await sh(runtime, 'wc -c <large; echo more >>large; stat -c %U large .')).toBe(
        `${24 * MIB}\nagent\nagent\n`,
      );
      expect(await sh(runtime, 'cp large again')).toMatch(/No space left on device/);
      const changed: string[] = [];
      for await (const { type, path } of (await runtime.scan(undefined)).changes)
        if (type === 'file') changed.push(path);
      expect(changed.sort()).toEqual(['again', 'large']);
      const { controls } = await runtime.assurance();
      expect(controls.find(({ name }) => name === 'disk')).toMatchObject({ status: 'enforced' });
      await expect(provider.create(specOf(small, { strategy: 'copy', workspace }))).rejects.toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
      });
      expect([existsSync(imageOf(small)), existsSync(imageOf(id))]).toEqual([false, true]);
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
      await provider.remove(small);
    });

    it('is refused with a shared playground, and where it cannot be made', async () => {
      await using provider = overlayfs({ host, facts: await host.facts(), directory });
      const unsupported = (text: string) => ({ code: 'UNSUPPORTED', message: expect.stringContaining(text) });
      const id = SandboxId.make();
      await expect(provider.create(specOf(id, { playground: SandboxId.make() }))).rejects.toMatchObject(
        unsupported('playground'),
      );
      const without: Host = {
        ...host,
        spawn: (spec, options) =>
          host.spawn(
            rewritten(spec, (word) => word.replace('command -v mkfs.ext4', 'false')),
            options,
          ),
      };
      await using poor = overlayfs({ host: without, facts: await without.facts(), directory });
      await expect(poor.create(specOf(id))).rejects.toMatchObject(unsupported('on this machine'));
      expect((await poor.probe()).checks).toContainEqual(expect.objectContaining({ name: 'disk', status: 'warning' }));
      expect((await provider.probe()).checks).toContainEqual(expect.objectContaining({ name: 'disk', status: 'ok' }));
    });
  });

it('an ordinary user is told that it cannot be bounded, and why', async () => {
  const facts = await host.facts();
  const own = await backendDirectory('overlay');
  await using provider = overlayfs({ host, facts: isRoot ? { ...facts, uid: 1000 } : facts, directory: own });
  expect(provider.traits.limits).not.toContain('diskBytes');
  await expect(provider.create(specOf(SandboxId.make()))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    details: { hint: expect.stringContaining('as root') },
  });
  if (!isRoot)
    expect((await provider.probe()).checks).toContainEqual(
      expect.objectContaining({ name: 'disk', status: 'warning', remedy: expect.stringContaining('as root') }),
    );
  await removeBackend(own);
});
