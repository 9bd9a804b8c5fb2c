import assert from 'node:assert/strict';
import { isLitterboxError, type SandboxRuntime } from '@litterbox/core/provider';
import { FIXTURE, type SandboxFixture, type Check, freshKey, idsOf } from './suite.ts';

/** What a package brings: programs, files of a user of its own, one that would give its user's rights away. */
const INSTALL = `set -e
mkdir -p /usr/local/bin /opt/kit
printf '#!/bin/sh\\necho installed\\n' >/usr/local/bin/kit-tool; chmod 755 /usr/local/bin/kit-tool
echo private >/opt/kit/private; chmod 600 /opt/kit/private; echo theirs >/opt/kit/theirs; chown 4242:4243 /opt/kit/theirs
cp /bin/sh /opt/kit/sh; chmod 4755 /opt/kit/sh
grep -q kitsvc /etc/passwd || echo kitsvc:x:4242:4243::/:/bin/false >>/etc/passwd`;

/** The provider's own images; undefined where there are none, and nothing to test. */
function storeOf({ provider, spec }: SandboxFixture) {
  const { root } = spec();
  return provider.images && root.type === 'image' ? { images: provider.images, root } : undefined;
}

/** What is kept goes when no sandbox is made of it any more. */
async function removed({ images, root }: NonNullable<ReturnType<typeof storeOf>>, key: string): Promise<void> {
  await images.remove(root.reference, key);
  assert.equal(await images.has(root.reference, key), false);
  await images.remove(root.reference, key);
}

/** Installs something and keeps it. */
async function kept(fixture: SandboxFixture, script: string): Promise<string> {
  const { create, sh, provider } = fixture;
  const key = freshKey();
  const installer = await create({ isInstaller: true });
  const { exit, stderr } = await sh(installer, script);
  assert.equal(exit.code, 0, stderr);
  await provider.images?.keep(installer.id, key);
  await gone(fixture, installer);
  return key;
}

async function gone({ provider }: SandboxFixture, runtime: SandboxRuntime): Promise<void> {
  await runtime[Symbol.asyncDispose]();
  await provider.remove(runtime.id);
}

/** Images into which something was installed. A provider of machines and directories has none. */
export function images(check: Check): void {
  check('what nobody installed is not there, and nothing is made of it', async (fixture) => {
    const store = storeOf(fixture);
    if (!store) return; // a root of this kind is refused, which the group `traits` tests
    const key = freshKey();
    assert.equal(await store.images.has(store.root.reference, key), false);
    const spec = fixture.spec({ root: { ...store.root, installed: key } });
    await assert.rejects(fixture.provider.create(spec), (error) => isLitterboxError(error, 'NOT_FOUND'));
    assert.ok(!(await idsOf(fixture)).includes(spec.id));
  });

  check(
    'what was installed is in every sandbox that is made of it, as the system is, and in no other',
    async (fixture) => {
      const store = storeOf(fixture);
      if (!store) return; // see above
      const key = await kept(fixture, INSTALL);
      assert.equal(await store.images.has(store.root.reference, key), true);
      const root = { ...store.root, installed: key };
      const runtime = await fixture.create({ root });
      const look = `kit-tool; id -u; cat /opt/kit/private 2>/dev/null; cat /opt/kit/theirs; stat -c %u /opt/kit/theirs
/opt/kit/sh -c 'id -u'; touch /opt/kit/more 2>/dev/null || echo read-only; cat README; ls -A ~ /playground`;
      // An image has a directory of root's where the workspace was when something was installed, and engines may take its owner over.
      const { stdout: mine } = await fixture.sh(runtime, 'touch mine && mkdir also && rm -r mine also && echo mine');
      assert.equal(mine, 'mine\n', "the top of the workspace is the agent's");
      const { stdout } = await fixture.sh(runtime, look);
      const [tool, uid = '', theirs, owner, rights, system, readme, ...rest] = stdout.split('\n');
      assert.deepEqual([tool, theirs, system, readme], ['installed', 'theirs', 'read-only', 'read me'], stdout);
      assert.ok(uid !== '0' && owner !== '0' && owner !== uid, stdout);
      assert.equal(rights, uid, 'a program that would give its user away gives nothing');
      assert.ok(!rest.includes('tool'), stdout);
      await using reopened = await (await fixture.another()).open(runtime.id);
      assert.equal((await fixture.sh(reopened, 'kit-tool')).stdout, 'installed\n');
      const plain = await fixture.create();
      assert.equal((await fixture.sh(plain, 'command -v kit-tool || echo none')).stdout, 'none\n');
      await assert.rejects(store.images.remove(store.root.reference, key), (error) =>
        isLitterboxError(error, 'CONFLICT'),
      );
      assert.equal((await fixture.sh(runtime, 'kit-tool')).stdout, 'installed\n');
      await gone(fixture, runtime);
      await removed(store, key);
    },
  );

  check('an installer is root over the files of the image and nothing else', async (fixture) => {
    if (!storeOf(fixture)) return; // see above
    const { create, sh, provider } = fixture;
    const installer = await create({ isInstaller: true });
    const { stdout } = await sh(
      installer,
      `id -u; echo $HOME; pwd; cat README; touch README new 2>/dev/null && echo written
mount -t tmpfs none /mnt 2>/dev/null && echo mounted; mknod /tmp/disk b 8 0 2>/dev/null && echo made
chroot / true 2>/dev/null && echo changed; sed -n 's/^ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev; ls /home/agent /playground 2>/dev/null
while read -r name value; do case $name in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$name $value";; esac; done </proc/self/status`,
    );
    const facts = new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
    assert.deepEqual(stdout.split('\n').slice(0, 5), ['0', '/root', '/src', 'read me', 'lo'], stdout);
    // CHOWN, DAC_OVERRIDE, FOWNER, SETGID, SETUID: linux/capability.h
    for (const set of ['CapEff:', 'CapBnd:']) assert.equal(BigInt(`0x${facts.get(set)}`) & ~0xcbn, 0n, stdout);
    assert.deepEqual([facts.get('NoNewPrivs:'), facts.get('Seccomp:')], ['1', '2'], stdout);
    await gone(fixture, installer);
    await assert.rejects(provider.open(installer.id), (error) => isLitterboxError(error, 'NOT_FOUND'));
  });

  check(
    'installers change neither the base nor each other; what is kept anew takes the place of what was',
    async (fixture) => {
      const store = storeOf(fixture);
      if (!store) return; // see above
      const { create, sh } = fixture;
      const [one, two] = [await create({ isInstaller: true }), await create({ isInstaller: true })];
      await sh(one, 'echo one >/opt-one');
      assert.equal((await sh(two, 'ls /opt-one 2>&1 >/dev/null | grep -c .')).stdout, '1\n');
      const key = freshKey();
      for (const [number, runtime] of [one, two].entries()) {
        await sh(runtime, `echo ${number} >/number`);
        await store.images.keep(runtime.id, key);
        await gone(fixture, runtime);
        const made = await create({ root: { ...store.root, installed: key } });
        assert.equal((await sh(made, 'cat /number; cat README')).stdout, `${number}\n${FIXTURE[0].content}`);
        if (number === 1) await gone(fixture, made);
      }
      await removed(store, key);
    },
  );

  check('nothing else is kept as an image', async (fixture) => {
    const store = storeOf(fixture);
    if (!store) return; // see above
    const ordinary = await fixture.create();
    const isRefused = (error: unknown) => isLitterboxError(error, 'INVALID_ARGUMENT');
    await assert.rejects(store.images.keep(ordinary.id, freshKey()), isRefused);
    const installer = await fixture.create({ isInstaller: true });
    await assert.rejects(store.images.keep(installer.id, '../evil'), isRefused);
    const { id } = fixture.spec();
    await assert.rejects(store.images.keep(id, freshKey()), (error) => isLitterboxError(error, 'NOT_FOUND'));
    assert.equal((await fixture.sh(ordinary, 'echo well')).stdout, 'well\n');
  });
}
