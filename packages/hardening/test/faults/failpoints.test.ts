import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { faultFixture } from '../../src/index.ts';
import * as points from './kill-points.ts';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));

function failpointsOfTheProduct(): readonly string[] {
  return readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[a-z-]+\/src\/.*\.ts$/.test(path) && !path.startsWith('hardening/'))
    .flatMap((path) => [...readFileSync(join(PACKAGES, path), 'utf8').matchAll(/\bfailpoint\(\s*'([^']+)'/g)])
    .map(([, name = '']) => name);
}

it('every failpoint of the product is killed at by a test, and each has one place', () => {
  const found = failpointsOfTheProduct();
  const tested = new Set(
    Object.values(points).flatMap((table) =>
      Array.isArray(table)
        ? table.map((row) => (Array.isArray(row) ? String(row[0]) : String(row)))
        : Object.keys(table),
    ),
  );
  expect(found.length).toBeGreaterThan(60);
  expect([...tested].filter((name) => !found.includes(name))).toEqual([]);
  expect(found.filter((name) => !tested.has(name))).toEqual([]);
  expect(found.filter((name, index) => found.indexOf(name) !== index)).toEqual([]);
});

it('the product reads no failpoint from its environment', async () => {
  await using fixture = faultFixture();
  await using client = fixture.client({ environment: { LITTERBOX_FAILPOINT: 'create.after-record=kill' } });
  await client.do({ do: 'create', name: 'a' });
  expect(await client.ended()).toEqual({ code: 0, signal: null });
});

it('a failpoint that throws makes the call fail and undoes it', async () => {
  await using fixture = faultFixture();
  await using client = fixture.client({ failpoints: 'create.after-runtime=throw' });
  client.send({ do: 'create', name: 'a' });
  expect((await client.reply())?.error?.message).toContain('failpoint create.after-runtime');
  expect(await client.do({ do: 'list' })).toEqual([]);
  await client.do({ do: 'create', name: 'a' });
});
