import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

test('each changed line of a file leads to its revision, call, command and exit status; untouched ones are left out', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = async (command: string, callId?: string) =>
    void (await fixture.runCommand.run({ sandbox: 'a', command }, { callId }));
  await run('echo two >>README; exit 3', 'toolu_1');
  await run('true');
  await fixture.accessFiles.write({ sandbox: 'a', path: 'README', content: Buffer.from('read me\ntwo\nthree\n') });
  const { changes } = await fixture.blameFile.blame('a', 'README');
  expect(changes).toMatchObject([
    {
      firstLine: 2,
      lines: ['two'],
      made: { number: 1, command: 'echo two >>README; exit 3', exitCode: 3, callId: 'toolu_1' },
    },
    { firstLine: 3, lines: ['three'], made: { number: 2, call: expect.any(Number) } },
  ]);
  expect(changes[0]?.made.call).toBeLessThan(changes[1]?.made.call ?? 0);
});

test('what no call has recorded yet is seen, as what was recovered', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'new', 'left\n');
  const { changes } = await fixture.blameFile.blame('a', 'new');
  expect(changes).toMatchObject([{ firstLine: 1, lines: ['left'], made: { number: 1 } }]);
  await expect(fixture.blameFile.blame('a', 'never')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
