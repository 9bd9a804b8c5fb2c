import { expect, test } from '@jest/globals';
import { LitterboxError, type LitterboxErrorCode, type Sandbox } from 'litterbox';
import { entriesBelow } from './entry-info.ts';

const status = { type: 'file', isLink: false, sizeBytes: 1, modifiedMs: 0 };

/** A directory of two files, of which the second cannot be looked at. */
function sandboxWhereLooksFail(code: LitterboxErrorCode): Sandbox {
  const files = {
    list: async () => [
      { path: 'a', type: 'file' },
      { path: 'b', type: 'file' },
    ],
    stat: async (path: string) => {
      if (path === '/b') throw new LitterboxError(code, 'It is not there.', { operation: 'files.stat' });
      return status;
    },
  };
  return { files } as unknown as Sandbox;
}

const look = async (sandbox: Sandbox) =>
  await entriesBelow(sandbox, '/', { depth: 1, maxNames: 9, signal: new AbortController().signal });

test('a name that went away is left out', async () => {
  expect(await look(sandboxWhereLooksFail('NOT_FOUND'))).toEqual([expect.objectContaining({ path: '/a' })]);
});

test('a look that fails otherwise is no name that went away', async () => {
  await expect(look(sandboxWhereLooksFail('PERMISSION_DENIED'))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
});
