import { expect, test } from '@jest/globals';
import { backgroundOf } from './in-background.ts';

test('only the last line tells that a command goes on, whatever the command printed', () => {
  const line = (target: string) => `\nlitterbox-background ${target} /playground/b.log\n`;
  expect(backgroundOf(`up${line('-12')}`)).toEqual({
    stdout: 'up',
    line: '[goes on in the background; its output is in /playground/b.log; end it with kill -- -12]',
  });
  expect(backgroundOf(`${line('1')}${line('2')}`)?.line).toContain('kill 2]');
  expect(backgroundOf(`${line('1')}more`)).toBeUndefined();
  expect(backgroundOf(line('$(id)'))).toBeUndefined();
});
