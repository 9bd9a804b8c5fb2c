import { expect, test } from '@jest/globals';
import { LitterboxError } from 'litterbox';
import * as fc from 'fast-check';
import type { Hands } from '../hands.ts';
import { ExecServer } from './exec-server.ts';
import { params } from './messages.ts';

const methods = Object.keys(params);

/** A message that may be one: known methods, members that may be there, and values that may fit. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('file:///src/a', 'file:///../..%2f', 'file:///%00', 'file://host/a', 'YWJj', '', 'a', -1, 2 ** 53),
);
const members = [
  'path',
  'sourcePath',
  'destinationPath',
  'cwd',
  'processId',
  'argv',
  'env',
  'tty',
  'chunk',
  'dataBase64',
  'recursive',
  'force',
  'clientName',
  'resumeSessionId',
  'signal',
  'afterSeq',
  'waitMs',
  'sandbox',
  'envPolicy',
];
const message = fc.oneof(
  { arbitrary: fc.string(), weight: 1 },
  {
    arbitrary: fc
      .record(
        {
          id: fc.oneof(fc.nat(9), fc.string({ maxLength: 3 }), fc.constant(null)),
          method: fc.oneof(fc.constantFrom(...methods), fc.string({ maxLength: 8 })),
          params: fc.oneof(
            fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 8 }),
            fc.jsonValue({ maxDepth: 1 }),
          ),
        },
        { requiredKeys: ['method'] },
      )
      .map((one) => JSON.stringify(one)),
    weight: 9,
  },
);

test('whatever a client sends is answered at most once, and no path with a NUL reaches the sandbox', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 12 }), async (messages) => {
      const paths: string[] = [];
      const refuse = async (path: unknown) => {
        if (typeof path === 'string') paths.push(path);
        throw new LitterboxError('NOT_FOUND', 'nothing', { operation: 'test' });
      };
      const hands = {
        name: 'one',
        record: { id: 'one', workdir: '/src' },
        attach: refuse,
        files: {
          read: refuse,
          stat: refuse,
          list: refuse,
          write: refuse,
          mkdir: refuse,
          remove: refuse,
          copy: refuse,
        },
      } as unknown as Hands;
      const server = new ExecServer({ hands, root: '/src', shell: '/bin/sh' });
      const sent: { id?: unknown; result?: unknown; error?: unknown }[] = [];
      const connection = server.connect(async (one) => void sent.push(one));
      for (const text of ['{"id":0,"method":"initialize","params":{"clientName":"fuzz"}}', ...messages])
        await connection.receive(text);
      await new Promise((resolve) => setImmediate(resolve));
      await server.close();
      expect(sent.length).toBeLessThanOrEqual(messages.length + 1);
      for (const one of sent) expect((one.result === undefined) !== (one.error === undefined)).toBe(true);
      expect(paths.filter((path) => path.includes('\0'))).toEqual([]);
    }),
    { numRuns: Math.ceil(300 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? '1')) },
  );
});
