import { describe, expect, it } from '@jest/globals';
import type { OutputChunk } from '@litterbox/core';
import { hearText } from './hear-text.ts';

const chunk = (type: OutputChunk['type'], ...bytes: readonly number[]): OutputChunk => ({
  type,
  bytes: Uint8Array.from(bytes),
});

describe('hearText', () => {
  it('tells each stream apart, and a character in two chunks whole', async () => {
    const heard: string[] = [];
    const { hear, end } = hearText({
      onStdout: (text) => heard.push(`out ${text}`),
      onStderr: (text) => heard.push(`err ${text}`),
    });
    await hear(chunk('stdout-data', 0x61, 0xc3));
    await hear(chunk('stderr-data', 0x62));
    await hear(chunk('stdout-data', 0xbc));
    await end();
    expect(heard).toEqual(['out a', 'err b', 'out ü']);
  });

  it('keeps a byte order mark', async () => {
    const heard: string[] = [];
    const { hear } = hearText({ onStdout: (text) => heard.push(text) });
    await hear(chunk('stdout-data', 0xef, 0xbb, 0xbf, 0x61));
    expect(heard).toEqual(['\ufeffa']);
  });

  it('tells what is left at the end', async () => {
    const heard: string[] = [];
    const { hear, end } = hearText({ onStdout: (text) => heard.push(text) });
    await hear(chunk('stdout-data', 0xe2, 0x82));
    expect(heard).toEqual([]);
    await end();
    expect(heard).toEqual(['\ufffd']);
  });

  it('waits for what a function gives, and throws what it throws', async () => {
    let wake = () => {};
    const waiting = new Promise<void>((resolve) => (wake = resolve));
    const { hear } = hearText({ onStdout: () => waiting, onStderr: () => Promise.reject(new Error('mine')) });
    let isOver = false;
    const hearing = hear(chunk('stdout-data', 0x61)).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    wake();
    await hearing;
    await expect(hear(chunk('stderr-data', 0x61))).rejects.toThrow('mine');
  });
});
