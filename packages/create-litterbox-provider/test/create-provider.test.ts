import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createProvider } from '../src/index.ts';
import generateProvider from '../src/nx-generator.ts';

const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url));
let parent = '';
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'litterbox-create-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** Runs the generator as npm does; gives its exit status and what it said. */
const run = async (...words: string[]) => await runWith({}, ...words);

async function runWith(
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  const options = { cwd: parent, env: { PATH: process.env['PATH'], ...environment } };
  return await promisify(execFile)(process.execPath, ['--no-warnings', bin, ...words], options).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ ...error, status: error.code }),
  );
}

describe('create-litterbox-provider', () => {
  it('makes a package in which no gap is left open, at its own version', async () => {
    const { status, stdout } = await run('my-runc');
    expect(status).toBe(0);
    const files = ['.gitignore', 'README.md', 'package.json', 'src/isolation.ts', 'test/kit.test.ts', 'tsconfig.json'];
    for (const file of files) {
      expect(stdout).toContain(`  ${file}\n`);
      expect(await readFile(join(parent, 'my-runc', file), 'utf8')).not.toContain('{{');
    }
    const own = JSON.parse(await readFile(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8'));
    const made = JSON.parse(await readFile(join(parent, 'my-runc/package.json'), 'utf8'));
    expect(made.name).toBe('litterbox-provider-my-runc');
    expect(made.dependencies).toEqual({ '@litterbox/core': own.version, '@litterbox/linux-sandbox': own.version });
    expect(made.devDependencies['@litterbox/conformance']).toBe(own.version);
    expect(await readFile(join(parent, 'my-runc/src/isolation.ts'), 'utf8')).toContain("name: 'my-runc'");
  });

  it('makes the same as a generator of nx, where nothing is yet', async () => {
    const written = new Map<string, string>();
    const tree = {
      exists: (path: string) => [...written.keys()].some((one) => one.startsWith(`${path}/`)),
      write: (path: string, text: string) => void written.set(path, text),
    };
    await generateProvider(tree, { name: 'twice' });
    const { directory, files } = await createProvider('twice', parent);
    expect([...written.keys()]).toEqual(files.map((file) => `packages/twice/${file}`));
    for (const file of files)
      expect(written.get(`packages/twice/${file}`)).toBe(await readFile(join(directory, file), 'utf8'));
    await expect(generateProvider(tree, { name: 'twice' })).rejects.toThrow('there already');
    await expect(generateProvider(tree, { name: '../up' })).rejects.toThrow('no name');
    const { generators } = JSON.parse(await readFile(new URL('../generators.json', import.meta.url), 'utf8'));
    expect(generators.provider).toMatchObject({ factory: './dist/nx-generator.js', schema: './nx-schema.json' });
  });

  it('makes one over a service with an API, with a service to try it on, and refuses a template that is none: FC-475, FC-476', async () => {
    const { status, stdout } = await run('my-cloud', '--template', 'api');
    expect(status).toBe(0);
    for (const file of ['.gitignore', 'fake/service.ts', 'src/service.ts', 'test/kit.test.ts', 'tsconfig.json'])
      expect(stdout).toContain(`  ${file}\n`);
    expect(stdout).not.toContain('runc');
    const made = JSON.parse(await readFile(join(parent, 'my-cloud/package.json'), 'utf8'));
    expect(Object.keys(made.dependencies)).toContain('@litterbox/far-host');
    expect(await readFile(join(parent, 'my-cloud/src/index.ts'), 'utf8')).toContain("key = 'my-cloud'");
    // FC-476: what npm makes of `npm create litterbox-provider NAME --template api`.
    for (const [name, environment, ...words] of [
      ['kept', { npm_config_template: 'api' }],
      ['given', { npm_config_template: 'true' }, 'api'],
    ] as const)
      expect((await runWith(environment, name, ...words)).stdout).toContain('  fake/service.ts\n');
    const refused = await run('other', '--template', 'vm');
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('There is no template "vm".\n→ Take one of runc, api.');
  });

  it('has a provider of less than 200 lines', async () => {
    const { directory, files } = await createProvider('lines', parent);
    const sources = files.filter((file) => file.startsWith('src/'));
    const texts = await Promise.all(sources.map((file) => readFile(join(directory, file), 'utf8')));
    expect(texts.join('').split('\n').length).toBeLessThan(200);
  });

  it('takes a directory that is empty, and no other', async () => {
    await mkdir(join(parent, 'empty'));
    expect((await createProvider('empty', parent)).files.length).toBeGreaterThan(5);
    await mkdir(join(parent, 'taken'));
    await writeFile(join(parent, 'taken/note'), 'mine');
    await writeFile(join(parent, 'file'), 'mine');
    await symlink('/nowhere', join(parent, 'dangling'));
    for (const [name, said] of [
      ['taken', 'is not empty: it holds 1 entries, note among them'],
      ['file', 'no directory'],
      ['dangling', 'no directory'],
    ] as const) {
      const { status, stderr, stdout } = await run(name);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(said);
      expect(stderr).toContain('→ Take another name');
    }
    expect(await readFile(join(parent, 'taken/note'), 'utf8')).toBe('mine');
  });

  it('refuses what is no name, before anything is made', async () => {
    for (const name of ['../up', '/abs', 'Upper', '', '1st', 'a b', 'x'.repeat(41), 'a/b', "it's"]) {
      const { status, stderr } = await run(name);
      expect({ name, status }).toEqual({ name, status: 2 });
      expect(stderr).toContain('is no name for a provider');
    }
    expect((await run('-dash')).stderr).toContain('Unknown option');
    expect((await run()).stderr).toContain('One name is wanted, and none came');
    expect(await run('one', 'two')).toMatchObject({ status: 2 });
  });

  it('says how it is used', async () => {
    expect(await run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('npm create') });
  });
});
