import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseByteSize } from './parse-byte-size.ts';
import { parseDuration } from './parse-duration.ts';
import { parseNetworkRule } from './parse-network-rule.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9-]{1,8}$/),
  fc.stringMatching(/^xn--[a-z0-9-]{1,8}$/),
  fc.constantFrom(
    'xn--',
    'xn--a',
    'xn--nxasmq6b',
    'XN--P1AI',
    '0x7f',
    '127',
    '0',
    '1e1',
    'com',
    'co',
    'uk',
    'localhost',
    '*',
    '_',
    'ä',
    'ａ',
    '\u00ad',
    '％',
    '%61',
    'a%00',
    '\u2024',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const text = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', '*.', 'http://', 'user@', '['),
      fc.array(label, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('', '.', ':443', ':0', ':080', ':65536', ':', '/x', '?x', '#x', '\\x', ']', '\0', '\n'),
    )
    .map(([before, labels, after]) => before + labels.join('.') + after),
  fc.domain(),
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6(),
);

describe('rules of the network', () => {
  test('what a URL takes for another host than the rule says is refused', () => {
    fc.assert(
      fc.property(text, (written) => {
        const rule = parseNetworkRule(written);
        if (rule === undefined) return;
        expect(parseNetworkRule(rule)).toBe(rule);
        const [host = '', port = '443'] = rule.replace(/^\*\./, '').split(':');
        const url = new URL(`http://${host}:${port}/`);
        expect({
          hostname: url.hostname,
          port: url.port || '80',
          username: url.username,
          pathname: url.pathname,
        }).toEqual({ hostname: host, port, username: '', pathname: '/' });
        expect(host).toMatch(/^[a-z0-9.-]+\.[a-z0-9-]*[a-z-][a-z0-9-]*$/);
      }),
      { numRuns: runs(5000) },
    );
  });
});

describe('sizes and durations', () => {
  test('are what was meant, or nothing', () => {
    const unit = fc.constantFrom('B', 'KB', 'MiB', 'GiB', 'T', 'ms', 's', 'm', 'h', 'd', '', 'x');
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(fc.string({ maxLength: 6 }), unit), fc.tuple(fc.nat().map(String), unit)),
        ([amount, of]) => {
          for (const parse of [parseByteSize, parseDuration]) {
            const value = parse(amount + of);
            if (value !== undefined)
              expect({ first: value, second: Number.isSafeInteger(value), isLabelAtLeast: value >= 0 }).toEqual({
                first: value,
                second: true,
                isLabelAtLeast: true,
              });
          }
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  test('of all units read back as the sum', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (hours, minutes, seconds) => {
        expect(parseDuration(`${hours}h${minutes}m${seconds}s`)).toBe(((hours * 60 + minutes) * 60 + seconds) * 1000);
        expect(parseDuration(`${seconds}s${hours}h`)).toBeUndefined();
        expect(parseDuration(`${seconds}s${hours}s`)).toBeUndefined();
      }),
      { numRuns: runs(200) },
    );
  });
});
