import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isLitterboxError } from '../errors/errors.ts';
import { encodeRaw } from '../text/raw-text.ts';
import { shown } from '../text/shown.ts';
import { slugify } from './slug.ts';
import { visible } from '../text/visible.ts';
import { workspacePath } from '../paths/workspace-path.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '.git',
    '.GIT',
    'a',
    'src',
    '\0',
    '\ud800',
    '\udc80',
    '~',
    ' ',
    '\n',
    '-',
    '\\',
    'ü',
    'x'.repeat(200),
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const path = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));

describe('paths of callers', () => {
  test('become absolute ones without dots that Linux takes, or are refused by name', () => {
    fc.assert(
      fc.property(path, fc.boolean(), (given, isWritten) => {
        try {
          const absolute = workspacePath('/ada/project', given, { isWritten });
          const components = absolute.replace(/\/$/, '').split('/').slice(1);
          expect(absolute.startsWith('/')).toBe(true);
          expect(encodeRaw(absolute).length).toBeLessThanOrEqual(4097);
          for (const component of components.filter(() => absolute !== '/')) {
            expect(['', '.', '..']).not.toContain(component);
            expect(encodeRaw(component).length).toBeLessThanOrEqual(255);
            expect(component).not.toContain('\0');
          }
          expect(workspacePath('/elsewhere', absolute)).toBe(absolute);
          if (isWritten && absolute.startsWith('/ada/project/'))
            expect(components.map((component) => component.toLowerCase())).not.toContain('.git');
        } catch (error) {
          expect(isLitterboxError(error) && [error.code, error.details.hint]).toEqual([
            expect.stringMatching(/^PATH_/),
            expect.any(String),
          ]);
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('what people see', () => {
  // oxlint-disable-next-line no-control-regex
  const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
  test('holds nothing that moves the cursor, hides or reorders', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        expect(visible(text)).not.toMatch(DECEPTIVE);
        expect(visible(text).isWellFormed()).toBe(true);
        expect(shown(text)).not.toMatch(/[\n\t]/);
        expect(shown(text)).not.toMatch(DECEPTIVE);
        expect(shown(text).length).toBeLessThanOrEqual(80);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('names that look alike have the same slug, whatever their form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (name) => {
        const slugOf = (text: string) => {
          try {
            return slugify(text).slug;
          } catch (error) {
            return isLitterboxError(error) ? error.code : 'thrown';
          }
        };
        expect(slugOf(name.normalize('NFD'))).toBe(slugOf(name));
        expect(slugOf(`--${name}--`)).toBe(slugOf(name));
      }),
      { numRuns: runs(1000) },
    );
  });
});
