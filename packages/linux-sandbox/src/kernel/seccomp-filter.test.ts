import { describe, expect, test } from '@jest/globals';
import { seccompFilter } from './seccomp-filter.ts';

const AUDIT = { x86_64: 0xc000003e, aarch64: 0xc00000b7 } as const;
const ALLOW = 0x7fff0000;
const ENOSYS = 0x00050000 | 38;

/** What the kernel does with a call, by the rules of classic BPF: of a call without arguments. */
function verdictOf(filter: Uint8Array, architecture: number, number: number): number {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const code = view.getUint16(at * 8, true);
    const [whenTrue, whenFalse] = [view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)];
    const operand = view.getUint32(at * 8 + 4, true);
    if (code === 0x06) return operand;
    if (code === 0x20) {
      accumulator = operand === 0 ? number : operand === 4 ? architecture : 0;
      continue;
    }
    const holds =
      code === 0x15 ? accumulator === operand : code === 0x35 ? accumulator >= operand : (accumulator & operand) !== 0;
    at += holds ? whenTrue : whenFalse;
  }
}

describe.each(Object.entries(AUDIT))('the filter of system calls on %s', (architecture, audit) => {
  const filter = seccompFilter(architecture, 'overlayfs');
  test('AX94: what a later kernel brings is absent until somebody has judged it', () => {
    expect(verdictOf(filter, audit, 452)).toBe(ALLOW); // fchmodat2, of 6.6
    for (const number of [468, 470, 511, 1000, 0x3fffffff]) expect(verdictOf(filter, audit, number)).toBe(ENOSYS);
    expect(verdictOf(filter, audit, 447)).toBe(ENOSYS); // memfd_secret
  });
});
