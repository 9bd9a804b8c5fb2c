import { describe, expect, it } from '@jest/globals';
import { parseKeptFacts } from './kept-facts.ts';

const whole = {
  assurance: {
    provider: 'overlayfs@box',
    mechanism: 'overlay (root), bubblewrap 0.8.0',
    controls: [
      { name: 'network', status: 'enforced', finding: 'no interface but loopback' },
      { name: 'disk', status: 'absent', finding: 'may fill the disk', remedy: 'Set limits.disk.' },
    ],
    readable: [{ path: '/usr', reason: 'programs' }],
    masked: ['/etc/shadow'],
    unreachable: [{ path: '/opt/bin/a', target: '/home/me/a' }],
  },
  network: { path: '/proc/12/ns/net', identity: 'net:[4026532]', userNamespace: '/proc/11/ns/user' },
  hasScanner: true,
  takesPlans: true,
};
const parsed = (change: (facts: typeof whole) => unknown) =>
  parseKeptFacts(JSON.stringify(change(structuredClone(whole))), 'overlayfs@box');

describe('the facts of a session that its machine keeps', () => {
  it('are read as they were written', () => {
    expect(parsed((facts) => facts)).toEqual(whole);
  });

  it('are of the provider that asks, whatever the machine says', () => {
    const other = { ...whole, assurance: { ...whole.assurance, provider: '\u001b[2J', more: 1 }, more: 1 };
    expect(parsed(() => other)).toEqual(whole);
  });

  it('have no character in a sentence that nobody sees', () => {
    const finding = 'fine\u001b]52;c;AAAA\u0007\u202e'.padEnd(5000, 'x');
    const { mechanism, controls, readable } = parsed((facts) => ({
      ...facts,
      assurance: {
        ...facts.assurance,
        mechanism: '\r\u001b[1A',
        controls: [{ name: 'disk', status: 'weak', finding, remedy: finding }],
        readable: [{ path: '/usr', reason: '\u001b[8m' }],
      },
    })).assurance;
    for (const text of [mechanism, controls[0]?.finding, controls[0]?.remedy, readable[0]?.reason]) {
      expect(text).toMatch(/^[ -~…]+$/);
      expect(text?.length).toBeLessThanOrEqual(1000);
    }
  });

  it.each(['', '{', 'null', '7', '[]', '{}', `"${'x'.repeat(2 ** 20)}"`])('are none of the text %#', (text) => {
    expect(() => parseKeptFacts(text, 'overlayfs')).toThrow();
  });

  const assurance = (change: object) => (facts: typeof whole) => ({
    ...facts,
    assurance: { ...facts.assurance, ...change },
  });
  const network = (change: object) => (facts: typeof whole) => ({ ...facts, network: { ...facts.network, ...change } });

  it.each([
    ['no assurance', ({ network: one }: typeof whole) => ({ network: one })],
    ['no network', ({ assurance: one }: typeof whole) => ({ assurance: one })],
    ['controls that are no list', assurance({ controls: { length: 1 } })],
    ['a control of another name', assurance({ controls: [{ name: '__proto__', status: 'enforced', finding: '' }] })],
    ['a control that is somehow', assurance({ controls: [{ name: 'disk', status: 'fine', finding: '' }] })],
    ['a finding that is no text', assurance({ controls: [{ name: 'disk', status: 'weak', finding: {} }] })],
    ['paths that are none', assurance({ readable: [{ path: 7, reason: '' }] })],
    ['a mask that is none', assurance({ masked: [null] })],
    ['a network elsewhere', network({ path: '/proc/1/../../tmp/net' })],
    ['a network that is an option', network({ path: '--all' })],
    ['users that are none', network({ userNamespace: '/tmp/user' })],
  ])('are none with %s', (_what, change) => {
    expect(() => parsed(change)).toThrow();
  });
});
