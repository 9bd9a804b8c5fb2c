import { expect, test } from '@jest/globals';
import { ExecChannel } from '@litterbox/core/provider';
import { localHost } from '../src/index.ts';

test('AX206: who gives up waiting for a shell that is on its way leaves it to the next', async () => {
  await using host = localHost();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let started = 0;
  await using channel = new ExecChannel({
    spawn: async (spec, options) => {
      started += 1;
      await opened;
      return await host.spawn(spec, options);
    },
  });
  const warming = channel.warm();
  const first = new AbortController();
  const given = channel.run({ argv: ['true'] }, { signal: first.signal });
  first.abort(new Error('given up'));
  await expect(given).rejects.toThrow('given up');
  open();
  await warming;
  await new Promise(setImmediate); // what waits for it besides has it now
  expect((await channel.run({ argv: ['true'] })).exit).toEqual({ code: 0 });
  expect(started).toBe(1);
});
