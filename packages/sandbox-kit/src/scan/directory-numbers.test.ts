import { describe, expect, it } from '@jest/globals';
import { NO_NUMBERS, parseKeptNumbers } from './directory-numbers.ts';

const whole = { known: [['src', '12']], pending: { next: '1.0 boot 2', numbers: [['lib', '13']] } };

describe('the numbers of directories that a scanner keeps', () => {
  it('are read as they were written', () => {
    expect(parseKeptNumbers(JSON.stringify(whole))).toEqual(whole);
    expect(parseKeptNumbers(JSON.stringify({ known: [] }))).toEqual({ known: [] });
  });

  it.each(['', '{', 'null', '7', '[]', '{}', '{"known":7}', '{"known":[7]}', '{"known":[["a"]]}', '{"known":[[1,2]]}'])(
    'are none where the machine has written %j',
    (text) => {
      expect(parseKeptNumbers(text)).toEqual(NO_NUMBERS);
    },
  );

  it.each([null, 7, {}, { next: 1, numbers: [] }, { next: 'x', numbers: 'y' }])(
    'lack those that are pending where these are %j',
    (pending) => {
      expect(parseKeptNumbers(JSON.stringify({ ...whole, pending }))).toEqual({ known: whole.known });
    },
  );
});
