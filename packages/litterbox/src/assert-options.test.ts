import { describe, expect, it } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core';
import { createLitterbox, type LitterboxOptions } from './index.ts';

const provider = () => {
  throw new Error('nobody asks for it');
};

function refusal(options: unknown): unknown {
  try {
    createLitterbox(options as LitterboxOptions);
    return undefined;
  } catch (error) {
    return isLitterboxError(error) ? `${error.code} ${error.message} ${error.details.hint}` : error;
  }
}

describe('the options of a Litterbox', () => {
  it.each([
    [undefined, 'ARG_MISSING', 'options'],
    [null, 'ARG_MISSING', 'options'],
    [{}, 'ARG_MISSING', 'providers'],
    [{ repo: '/tmp' }, 'ARG_MISSING', 'providers'],
    [{ providers: [] }, 'ARG_TYPE', 'providers'],
    [{ providers: 'overlayfs' }, 'ARG_TYPE', 'providers'],
    [{ providers: ['overlayfs'] }, 'ARG_TYPE', 'string'],
    [{ providers: [null] }, 'ARG_TYPE', 'null'],
    [{ providers: [provider], repository: '/tmp' }, 'ARG_UNKNOWN', 'repository'],
    [{ providers: [provider], repo: 7 }, 'ARG_TYPE', 'repo'],
    [{ providers: [provider], stateDirectory: true }, 'ARG_TYPE', 'stateDirectory'],
  ])('%j are refused as %s, which names %s', (options, code, name) => {
    const told = refusal(options);
    expect(told).toMatch(new RegExp(`^${code} .*${name}`));
    expect(told).toContain('Such as: createLitterbox({'.slice(0, code === 'ARG_UNKNOWN' ? 0 : undefined));
  });

  it('are taken where providers are there, and nothing is asked', () => {
    expect(refusal({ providers: [provider] })).toBeUndefined();
  });
});
