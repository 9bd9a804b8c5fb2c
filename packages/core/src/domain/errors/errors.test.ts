import { expect, test } from '@jest/globals';
import { ERROR_CODES, isLitterboxError, LitterboxError } from './errors.ts';

test('every code is a state of the world in capitals and has an exit status of the table', () => {
  for (const [code, status] of Object.entries(ERROR_CODES)) {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/);
    expect([2, 3, 4, 5, 6, 70]).toContain(status);
  }
  expect(Object.entries(ERROR_CODES).filter(([, status]) => status === 70)).toEqual([['INTERNAL', 70]]);
});

test('an error is known by its brand, also when it comes from another copy of the package', () => {
  const error = new LitterboxError('NOT_FOUND', 'There is none.', { operation: 'a.b' }, { cause: 1 });
  expect(isLitterboxError(error)).toBe(true);
  expect(isLitterboxError(error, 'NOT_FOUND')).toBe(true);
  expect(isLitterboxError(error, 'CONFLICT')).toBe(false);
  expect(error).toMatchObject({ name: 'LitterboxError', code: 'NOT_FOUND', cause: 1, details: { operation: 'a.b' } });
  const foreign = Object.assign(new Error('x'), { [Symbol.for('litterbox.error')]: true, code: 'BUSY', details: {} });
  expect(isLitterboxError(foreign, 'BUSY')).toBe(true);
  for (const value of [new Error('x'), { code: 'BUSY' }, null, 'BUSY']) expect(isLitterboxError(value)).toBe(false);
});
