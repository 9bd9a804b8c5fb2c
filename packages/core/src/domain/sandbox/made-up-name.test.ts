import { expect, test } from '@jest/globals';
import { madeUpName } from './made-up-name.ts';
import { slugify } from './slug.ts';

test('a made-up name is its own slug', () => {
  const names = new Set<string>();
  for (let number = 0; number < 40; number += 1) names.add(madeUpName((count) => number % count));
  expect(names.size).toBe(40);
  for (const name of names) expect(slugify(name)).toEqual({ slug: name, lossy: false });
});
