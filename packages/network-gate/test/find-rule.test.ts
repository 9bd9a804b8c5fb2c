import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { findRule } from '../src/find-rule.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const ruleFor = (host: string, port: number, allow: readonly string[], deny: readonly string[] = []) => {
  const verdict = findRule({ allow, deny }, { host, port });
  return verdict.isAllowed ? verdict.rule : verdict.rule === undefined ? 'none' : `denied by ${verdict.rule}`;
};

describe('rules', () => {
  it.each([
    ['example.org', 443, ['example.org'], [], 'example.org'],
    ['example.org', 80, ['example.org'], [], 'none'],
    ['example.org', 8443, ['example.org:8443'], [], 'example.org:8443'],
    ['example.org', 443, ['example.org:8443'], [], 'none'],
    ['www.example.org', 443, ['example.org'], [], 'none'],
    ['www.example.org', 443, ['*.example.org'], [], '*.example.org'],
    ['a.b.example.org', 443, ['*.example.org'], [], '*.example.org'],
    ['example.org', 443, ['*.example.org'], [], 'none'],
    ['evil-example.org', 443, ['*.example.org', 'example.org'], [], 'none'],
    ['evilexample.org', 443, ['*.example.org'], [], 'none'],
    ['example.org.evil.test', 443, ['*.example.org', 'example.org'], [], 'none'],
    ['example.org', 443, ['example.org'], ['example.org'], 'denied by example.org'],
    ['a.example.org', 443, ['*.example.org'], ['a.example.org'], 'denied by a.example.org'],
    ['b.example.org', 443, ['*.example.org'], ['a.example.org'], '*.example.org'],
    ['a.example.org', 8443, ['*.example.org:8443'], ['*.example.org'], 'denied by *.example.org'],
    ['a.example.org', 443, ['*.example.org'], ['*.example.org:8443'], '*.example.org'],
    ['example.org', 443, [], [], 'none'],
  ])('%s:%i with %j without %j: %s', (host, port, allow, deny, want) => {
    expect(ruleFor(host, port, allow, deny)).toBe(want);
  });
});

it('agrees with a model that builds the names', () => {
  const label = fc.constantFrom('a', 'b', 'ab', 'org');
  const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
  const rule = fc
    .tuple(fc.boolean(), name, fc.constantFrom('', ':443', ':8443'))
    .map(([isWildcard, host, port]) => `${isWildcard ? '*.' : ''}${host}${port}`);
  const holds = (text: string, host: string, port: number, usual: number) => {
    const [pattern = '', digits] = text.split(':');
    if (Number(digits ?? usual) !== port) return false;
    return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) && host !== pattern.slice(2) : host === pattern;
  };
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 3 }),
      fc.array(rule, { maxLength: 2 }),
      name,
      fc.constantFrom(443, 8443),
      (allow, deny, host, port) => {
        const denied = deny.some((text) => holds(text, host, port, port));
        const allowed = allow.some((text) => holds(text, host, port, 443));
        expect(findRule({ allow, deny }, { host, port }).isAllowed).toBe(allowed && !denied);
      },
    ),
    { numRuns: runs(2000) },
  );
});
