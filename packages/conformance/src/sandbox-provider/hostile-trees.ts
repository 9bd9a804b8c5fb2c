import assert from 'node:assert/strict';
import { type ChangedPath, type ChangeMark, type SandboxRuntime } from '@litterbox/core/provider';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

async function told(runtime: SandboxRuntime, mark?: ChangeMark): Promise<readonly ChangedPath[]> {
  const found: ChangedPath[] = [];
  for await (const change of (await runtime.scan(mark)).changes) found.push(change);
  return found;
}

/** Trees that an agent makes to mislead whoever looks for changes. */
export function hostileTrees(check: Check): void {
  check('a scan never leads out by a link, and a directory that became one is a link', async ({ create, sh }) => {
    const runtime = await create();
    await sh(runtime, 'ln -s / root; ln -s .. up; ln -s ../../../etc etc; ln -s . loop; mkdir swap; echo x >swap/own');
    const first = await runtime.scan(undefined);
    for await (const _change of first.changes);
    await sh(runtime, 'rm -r swap dir/sub && ln -s / swap && ln -s /usr dir/sub && ln -sfn /proc loop');
    const links = ['root', 'up', 'etc', 'loop', 'swap', 'dir/sub'];
    for (const changes of [await told(runtime, first.next), await told(runtime)])
      for (const { type, path } of changes) {
        if (links.includes(path)) assert.equal(type, 'symlink', path);
        assert.ok(!links.some((link) => path.startsWith(`${link}/`)), path);
      }
    const types = new Map((await told(runtime)).map(({ type, path }) => [path, type]));
    for (const link of links) assert.equal(types.get(link), 'symlink', link);
  });

  check('names of 255 bytes, and a path of almost four thousand, are told', async ({ create, sh }) => {
    const runtime = await create();
    const name = 'n'.repeat(255);
    const directory = 'd'.repeat(200);
    const { stdout } = await sh(
      runtime,
      `echo x >${name}; i=0; while [ $i -lt 19 ]; do mkdir ${directory} && cd -P ${directory} || break; i=$((i+1)); done; echo deep >file; echo $i`,
    );
    assert.equal(stdout, '19\n', 'the tree could be made');
    const paths = (await told(runtime)).filter(({ type }) => type === 'file').map(({ path }) => path);
    assert.deepEqual(paths.sort(), [`${Array.from({ length: 19 }, () => directory).join('/')}/file`, name]);
  });

  check('what lies too deep for any name is told as unreadable, not left out', async ({ shared, sh }) => {
    const runtime = await shared();
    const directory = 'd'.repeat(200);
    await sh(
      runtime,
      `i=0; while [ $i -lt 25 ]; do mkdir ${directory} && cd -P ${directory} || break; i=$((i+1)); done; echo x >file`,
    );
    const changes = await told(runtime);
    const deep = changes.filter(({ type }) => type === 'unreadable');
    assert.ok(deep.length > 0, 'something is told');
    assert.ok(deep.every(({ path }) => path.startsWith(`${directory}/${directory}/`)));
    assert.ok(!changes.some(({ type, path }) => type === 'file' && path.length > 4096));
    await sh(runtime, `rm -rf ${directory}`);
  });

  check('a file of eight gibibytes that holds nothing is told with its size, at no cost', async ({ shared, sh }) => {
    const runtime = await shared();
    const { exit, stderr } = await sh(runtime, 'dd if=/dev/zero of=sparse bs=1 count=1 seek=8589934591');
    assert.equal(exit.code, 0, stderr);
    const change = (await told(runtime)).find(({ path }) => path === 'sparse');
    assert.deepEqual(change, { type: 'file', path: 'sparse', sizeBytes: 2 ** 33, executable: false });
  });

  check('what looks like a deletion to a file system is none that is told', async ({ create, sh }) => {
    const runtime = await create();
    const first = await runtime.scan(undefined);
    for await (const _change of first.changes);
    // Devices 0:0 mark deletions in the layers of an overlay; the kernel lets everybody make one on most file systems.
    await sh(
      runtime,
      'mknod gone c 0 0; mkdir new && mknod new/gone c 0 0; echo x >.wh.README; echo x >dir/.wh..wh..opq',
    );
    const changes = await told(runtime, first.next);
    const isMade = (await sh(runtime, '[ -c gone ]')).exit.code === 0;
    if (isMade) assert.equal(changes.find(({ path }) => path === 'gone')?.type, 'special');
    for (const directory of ['', 'dir']) {
      const change = changes.find(({ type, path }) => type === 'directory' && path === directory);
      assert.ok(change?.type === 'directory', `the children of '${directory}' are told`);
      const names = change.children.map(({ name }) => name);
      for (const name of directory === '' ? ['README', '.wh.README', 'dir'] : ['a', 'sub', '.wh..wh..opq'])
        assert.ok(names.includes(name), `${directory}/${name}`);
    }
  });

  check('no time that a program sets on a file hides a change', async ({ create, sh }) => {
    const runtime = await create();
    const first = await runtime.scan(undefined);
    for await (const _change of first.changes);
    const { exit, stderr } = await sh(
      runtime,
      'echo 1 >>README; touch -t 197001020000 README; mkdir old && echo 2 >old/file && touch -t 197001020000 old/file old . ; echo 3 >>dir/a; touch -t 203501010000 dir/a dir',
    );
    assert.equal(exit.code, 0, stderr);
    const paths = (await told(runtime, first.next)).map(({ path }) => path);
    for (const path of ['README', 'old/file', 'dir/a']) assert.ok(paths.includes(path), path);
  });

  check('a scan that is left early, and two at once, harm neither each other nor the next', async (fixture) => {
    const { shared, sh } = fixture;
    const runtime = await shared();
    await sh(runtime, 'i=0; while [ $i -lt 300 ]; do : >file$i; i=$((i+1)); done');
    for await (const _change of (await runtime.scan(undefined)).changes) break;
    const files = async () => (await told(runtime)).filter(({ path }) => path.startsWith('file')).length;
    assert.deepEqual(await Promise.all([files(), files(), files()]), [300, 300, 300]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const { changes } = await runtime.scan(undefined, { signal: controller.signal });
    controller.abort(reason);
    await (async () => {
      for await (const _change of changes);
    })().catch((error: unknown) => assert.equal(error, reason));
    await eventually(files, (count) => count === 300);
  });
}
