import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import {
  etcDirectoryScript,
  ETC_SOURCES,
  etcPrefix,
  runProgram,
  encodePlan,
  type PlanEntry,
} from '@litterbox/linux-sandbox';
import { INSIDE } from '@litterbox/core/provider';
import { credentialsPlan, findCredentials } from '../src/machine/tool-directories.ts';
import { sessionProgramBytes } from './session-program-bytes.ts';

const run = promisify(execFile);
const host = localHost();
let program = '';
let directory = '';

beforeAll(async () => {
  program = join(await mkdtemp(join(tmpdir(), 'litterbox-program-')), 'litterbox-session');
  await writeFile(program, await sessionProgramBytes((await host.facts()).architecture), { mode: 0o755 });
});
afterAll(() => rm(join(program, '..'), { recursive: true }));
beforeEach(async () => {
  // Not below /var/lib, whose tools are of no person.
  directory = await mkdtemp('/tmp/litterbox-look-');
});
afterEach(() => rm(directory, { recursive: true }));

const look = async (...plan: readonly PlanEntry[]) =>
  await runProgram(host, [program, 'look'], encodePlan([...plan, ['go']]));
const shell = async (script: string) => (await run('sh', ['-c', script], { encoding: 'utf8' })).stdout;

describe('a look at the machine', () => {
  it('names the same directory of /etc as shell text', async () => {
    const prefix = etcPrefix(directory, INSIDE.user);
    expect((await look(['etc', prefix, ...ETC_SOURCES])).stdout).toBe('\0');
    const made = await shell(etcDirectoryScript(directory, INSIDE.user));
    expect(made).toContain(prefix);
    expect((await look(['etc', prefix, ...ETC_SOURCES])).stdout).toBe(`${made}\0`);
  });

  it('finds the same credentials as shell text', async () => {
    const tree = join(directory, 'tools');
    const files = [
      'credentials',
      'bin/TOKEN',
      'bin/deeper/token', // the third level
      'a/b/c/d/.env', // the fifth
      'a/b/c/d/e/f/.env', // the seventh
      'a/.env.example',
      'a/b/id_rsa',
      'a/node_modules/x/.env',
      'a/node_modules/.npmrc',
      'etc/npmrc',
      'line\nfeed/.env',
      'ordinary/file',
    ];
    for (const file of files) {
      await mkdir(join(tree, file, '..'), { recursive: true });
      await writeFile(join(tree, file), 'secret');
    }
    await mkdir(join(tree, '.git'));
    await mkdir(join(directory, 'elsewhere'));
    await writeFile(join(directory, 'plain'), '');
    await writeFile(join(directory, 'program'), '');
    await chmod(join(directory, 'program'), 0o755);
    await symlink(join(directory, 'elsewhere'), join(tree, 'secrets'));
    await symlink(join(directory, 'plain'), join(tree, 'auth.json'));
    await symlink(join(directory, 'program'), join(tree, '.npmrc'));
    await symlink('nowhere', join(tree, '.netrc'));
    const there = [tree, join(directory, 'gone')];
    const wanted = (await shell(findCredentials(there))).split('\0').slice(0, -1);
    const found = (await look(...credentialsPlan(there))).stdout.split('\0').slice(0, -1);
    expect(new Set(found)).toEqual(new Set(wanted));
    expect(found).toContain(`f ${tree}/a/b/id_rsa`);
    expect(found).toContain(`d ${directory}/elsewhere`);
    expect(found).not.toContain(`f ${tree}/a/node_modules/x/.env`);
  });

  it('tells links, what is there, texts and overlays', async () => {
    await writeFile(join(directory, 'one'), '1\n');
    await mkdir(join(directory, 'x'));
    await writeFile(join(directory, 'x', 'one'), '2\n');
    await writeFile(join(directory, 'mounts'), '1 2 0:3 / /a rw - ext4 d rw\n4 2 0:5 / /b rw - overlay o rw\n');
    await symlink('target', join(directory, 'link'));
    const { stdout } = await look(
      ['links', join(directory, 'link')],
      ['there', join(directory, 'one'), join(directory, 'two'), join(directory, 'link')],
      ['texts', `${directory}/*/one`],
      ['overlays', join(directory, 'mounts')],
    );
    expect(stdout.split('\0')).toEqual([
      'target\n',
      `${join(directory, 'one')}\n`,
      '2\n',
      '4 2 0:5 / /b rw - overlay o rw\n',
      '',
    ]);
  });

  it.each<[string, PlanEntry, string]>([
    ['an entry of another release', ['fly'], 'fly'],
    ['an expression that is none', ['secret', '('], 'expression'],
    ['a link that is none', ['links', '/'], 'cannot read the link /'],
    ['credentials of nowhere', ['credentials'], 'does not say where'],
  ])('refuses %s', async (_what, entry, reason) => {
    expect(await look(entry)).toMatchObject({ code: 1, stdout: expect.stringContaining(reason) });
  });
});
