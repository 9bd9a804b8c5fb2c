import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Host, HostFacts } from '@litterbox/core/provider';
import { providersFor } from './providers-for.ts';

/** A provider that does nothing. */
const PROVIDER =
  '{ name: key, traits: { roots: [] }, probe() {}, create() {}, open() {}, list() {}, remove() {}, [Symbol.asyncDispose]() {} }';
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'litterbox-providers-'));
  const made = join(directory, 'made');
  await mkdir(join(made, 'dist'), { recursive: true });
  await writeFile(
    join(made, 'package.json'),
    '{"name":"litterbox-provider-made","type":"module","exports":{".":{"types":"./dist/x.d.ts","default":"./dist/index.js"}}}',
  );
  await writeFile(join(made, 'dist/index.js'), `export const provider = ({ key }) => (${PROVIDER});\n`);
  await writeFile(join(directory, 'plain.mjs'), `export default ({ key }) => (${PROVIDER});\n`);
  await writeFile(join(directory, 'none.mjs'), 'export const provider = 1;\n');
  await writeFile(join(directory, 'broken.mjs'), 'throw new Error("my bug");\n');
  await mkdir(join(directory, 'repo/.git'), { recursive: true });
  await writeFile(join(directory, 'repo/plain.mjs'), 'export default () => {};\n');
  await symlink('../repo/plain.mjs', join(made, 'link.mjs'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const machine = { host: { environment: {} } as Host, facts: {} as HostFacts, directory: '/var/lib/litterbox' };
const named = (text: string) => providersFor({ LITTERBOX_PROVIDERS: text }, join(directory, 'repo'));

test('a package and a module by others come after those that come along, loaded when they are asked for', async () => {
  const own = providersFor({}).map(({ kind }) => kind);
  const all = named(`made=${directory}/made:plain=${directory}/plain.mjs:broken=${directory}/broken.mjs`);
  expect(all.map(({ kind }) => kind)).toEqual([...own, 'made', 'plain', 'broken']);
  const factories = await Promise.all(all.slice(own.length, -1).map(async ({ load }) => await load()));
  expect(factories.map((make) => make({ ...machine, key: 'made' }).name)).toEqual(['made', 'made']);
  await expect(all.at(-1)?.load()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('my bug'),
  });
  await expect(named(`none=${directory}/none.mjs`).at(-1)?.load()).rejects.toMatchObject({ code: 'CONFIG_VALUE' });
  expect(providersFor({ LITTERBOX_PROVIDERS: '' })).toBe(providersFor({}));
});

test('FC-323: what code of others throws, or gives in place of a provider, is told as that', async () => {
  for (const [name, text, why] of [
    ['empty', 'export default () => ({})', 'is no provider: it has no probe'],
    ['throws', 'export default () => { throw new Error("late") }', 'cannot be made: late'],
  ] as const) {
    await writeFile(join(directory, `${name}.mjs`), text);
    const make = await named(`x=${directory}/${name}.mjs`).at(-1)?.load();
    expect(() => make?.({ ...machine, key: 'x' })).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringContaining(why) }),
    );
  }
});

test('AX178: no code of the repository is named as a provider, by a link neither, nor code that others can write', async () => {
  await writeFile(join(directory, 'open.mjs'), '');
  await chmod(join(directory, 'open.mjs'), 0o666);
  for (const path of ['repo/plain.mjs', 'made/link.mjs', 'open.mjs'])
    expect(() => named(`x=${directory}/${path}`)).toThrow(expect.objectContaining({ code: 'CONFIG_UNTRUSTED' }));
  expect(() => named('x=./plain.mjs')).toThrow(expect.objectContaining({ code: 'CONFIG_UNTRUSTED' }));
  expect(providersFor({ LITTERBOX_PROVIDERS: `x=${directory}/repo/plain.mjs` }).at(-1)?.kind).toBe('x'); // of another repository
});

test.each(['x', '=/a', 'x=', 'X=/a', 'docker=/a', 'x=/nowhere'])('%j names no provider', (text) => {
  expect(() => named(text)).toThrow(expect.objectContaining({ code: 'CONFIG_VALUE' }));
});
