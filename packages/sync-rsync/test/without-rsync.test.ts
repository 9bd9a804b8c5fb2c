import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { rsync } from '../src/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-without-rsync-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

it('says that rsync is missing, whichever side it is missing at', async () => {
  const [source, programs] = [join(directory, 'source'), join(directory, 'programs')];
  await mkdir(source);
  await mkdir(programs);
  await writeFile(join(source, 'file'), 'content');
  for (const program of ['sh', 'env', 'cat'])
    await symlink(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(programs, program));
  const [bare, whole] = [localHost({ programs: [programs] }), localHost()];
  const target = join(directory, 'target');
  for (const [from, to] of [
    [bare, whole],
    [whole, bare],
  ] as const)
    await expect(rsync().sync({ host: from, path: source }, { host: to, path: target })).rejects.toMatchObject({
      code: 'TOOL_MISSING',
    });
  await rsync().sync({ host: whole, path: source }, { host: whole, path: target }); // positive control
});
