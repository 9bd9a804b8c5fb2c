import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { confinedCopy, copyTree, runScript } from '@litterbox/linux-sandbox';
import { localHost } from '@litterbox/host';
import { isRoot } from './backends.ts';

const root = mkdtempSync(join(tmpdir(), 'litterbox-confined-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('a link that is put where a directory was is copied as a link, and never followed', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'litterbox-outside-'));
  writeFileSync(join(outside, 'secret'), 'secret\n');
  mkdirSync(join(root, 'layer/dir'), { recursive: true });
  writeFileSync(join(root, 'layer/dir/file'), 'file\n');
  symlinkSync(outside, join(root, 'layer/link'));
  const run = async (copy: string) => await runScript(localHost(), confinedCopy({ root, isRoot, copy }));
  expect(await run(copyTree(join(root, 'layer'), join(root, 'copy')))).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(join(root, 'copy/dir/file'), 'utf8')).toBe('file\n');
  expect(readlinkSync(join(root, 'copy/link'))).toBe(outside);
  // As cp would ask for what is in a directory that it has seen, when it is a link by then.
  const followed = await run(`cat ${join(root, 'layer/link/secret')}`);
  expect({ code: followed.code, stdout: followed.stdout }).toEqual({ code: 1, stdout: '' });
  expect(followed.stderr).toContain('symbolic links');
  expect((await run(`echo x >${join(root, 'copy/link/secret')}`)).code).not.toBe(0);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  rmSync(outside, { recursive: true });
});

it('AX208: has so much memory, however many names of files there are', async () => {
  const { stdout } = await runScript(localHost(), confinedCopy({ root, isRoot, copy: 'ulimit -v' }));
  expect(stdout).toBe(`${2 ** 20}\n`);
});
