import { expect, test } from '@jest/globals';
import { traceWork } from '@litterbox/core';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

test('changed lines are traced to their calls, and an agent is one only where an agent called', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = async (command: string) => void (await fixture.runCommand.run({ sandbox: 'a', command }));
  await run('echo two >>README');
  await fixture.accessFiles.write({ sandbox: 'a', path: 'README', content: Buffer.from('read me\ntwo\nthree\n') });
  await run('echo x >new');
  await fixture.accessFiles.write({ sandbox: 'a', path: 'binary', content: Buffer.from('a\0b') });
  const trace = await fixture.traceWork.trace('a');
  expect(trace).toMatchObject({
    sandbox: 'a',
    files: [
      {
        path: 'README',
        calls: [
          { call: expect.any(Number), ranges: [{ firstLine: 2, lastLine: 2 }] },
          { call: expect.any(Number), ranges: [{ firstLine: 3, lastLine: 3 }] },
        ],
      },
      { path: 'new', calls: [{ ranges: [{ firstLine: 1, lastLine: 1 }] }] },
    ],
    leftOut: 1,
  });
  expect(trace.files.flatMap(({ calls }) => calls.map(({ contributor, actor }) => [contributor, actor]))).toEqual(
    Array.from({ length: 3 }, () => ['ai', 'test']),
  );
  expect(traceWork.document?.(trace)).toMatchObject({
    version: '0.1.0',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    files: [{ path: 'README', conversations: [{ ranges: [{ start_line: 2, end_line: 2 }] }, {}] }, {}],
  });
});
