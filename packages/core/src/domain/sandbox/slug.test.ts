import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isLitterboxError } from '../errors/errors.ts';
import { MAX_SLUG_CHARACTERS, slugify } from './slug.ts';

test.each([
  ['Fix Bug #12', 'fix-bug-12', false],
  ['a/../b', 'a-b', false],
  ['../../x', 'x', false],
  ['a_b', 'a-b', false],
  ['A-B', 'a-b', false],
  ['main', 'main', false],
  ['аdmin', 'dmin', true],
  ['\uff21', 'a', false],
  ['e\u0301clair', 'eclair', true],
  ['\u00dcn\u00efcode / n\u00e4me!!', 'unicode-name', true],
  ['\u202eevil', 'evil', true],
  ['a'.repeat(40), 'a'.repeat(40), false],
])('%j becomes %j', (name, slug, lossy) => {
  expect(slugify(name)).toEqual({ slug, lossy });
});

test.each([
  ['a\u0000b', 'NAME_NUL'],
  ['', 'NAME_INVALID'],
  ['-', 'NAME_INVALID'],
  ['привет', 'NAME_INVALID'],
  ['a'.repeat(41), 'NAME_INVALID'],
  ['HEAD', 'NAME_RESERVED'],
  ['con', 'NAME_RESERVED'],
  ['nul', 'NAME_RESERVED'],
  ['--all-envs', 'NAME_RESERVED'],
])('%j is %s', (name, code) => {
  expect(() => slugify(name)).toThrow(
    expect.objectContaining({ code, details: expect.objectContaining({ hint: expect.any(String) }) }),
  );
});

test('every slug is safe as a path segment, a ref and a DNS label, and is its own slug', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
      try {
        const { slug } = slugify(name);
        expect(slug).toMatch(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/);
        expect(slug.length).toBeLessThanOrEqual(MAX_SLUG_CHARACTERS);
        expect(slugify(slug)).toEqual({ slug, lossy: false });
      } catch (error) {
        expect(isLitterboxError(error) && error.code).toMatch(/^NAME_/);
      }
    }),
  );
});
