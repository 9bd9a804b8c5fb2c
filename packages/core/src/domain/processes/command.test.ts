import { expect, test } from '@jest/globals';
import { commandSubject } from './command.ts';

test('a text that a caller hands to a shell itself is what a person recognises', () => {
  expect(commandSubject(['/bin/bash', '-lc', 'npm test'])).toBe('npm test');
  expect(commandSubject(['sh', '-c', 'make'])).toBe('make');
  expect(commandSubject(['sh', '-c', 'make "$1"', 'sh'])).toBe('sh -c make "$1" sh');
  expect(commandSubject(['fish-c', '-c', 'x'])).toBe('fish-c -c x');
  expect(commandSubject('npm test')).toBe('npm test');
});
