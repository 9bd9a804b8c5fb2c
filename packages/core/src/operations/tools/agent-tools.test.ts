import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const here = dirname(fileURLToPath(import.meta.url));

/** The files of this package that a module loads, itself included. Imports of types alone vanish when it runs. */
function reachable(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  for (const [, clause = '', path = ''] of source.matchAll(/(?:import|export)\s([^;]*?)from '(\.[^']+)'/g))
    if (!/^type\s/.test(clause)) reachable(join(dirname(file), path), seen);
  for (const [, path = ''] of source.matchAll(/import\('(\.[^']+)'\)/g)) reachable(join(dirname(file), path), seen);
  return seen;
}

it('what agents may ask for does not reach what deletes, applies, merges or trusts', () => {
  const forbidden =
    /use-cases\/[a-z-]+\/(delete-sandbox|integrate-changes|trust-config|restore-revision|change-run-state)\.ts$/;
  const found = [...reachable(join(here, '..', '..', 'agent.ts'))];
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter((file) => forbidden.test(file))).toEqual([]);
  expect([...reachable(join(here, '..', 'operations.ts'))].filter((file) => forbidden.test(file))).toHaveLength(5);
});
