import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { brokenWorkspace, eventually, failureOf, fixtureWorkspace, forBackend, type TestRunner } from '../src/index.ts';

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return Buffer.concat(parts);
}

describe('the kit itself', () => {
  it('makes archives that tar reads', async () => {
    const long = `${'long/'.repeat(40)}name`;
    const files = [
      { path: 'plain', content: 'x' },
      { path: 'bin/tool', content: '#!', executable: true },
      { path: 'link', linkTarget: 'plain' },
      { path: long },
    ];
    const archive = await bytesOf(fixtureWorkspace('0', files).open());
    const listing = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8' });
    expect(listing).toMatch(/-rw-r--r-- .* 1 .* plain\n/);
    expect(listing).toMatch(/-rwxr-xr-x .* bin\/tool\n/);
    expect(listing).toMatch(/lrwxrwxrwx .* link -> plain\n/);
    expect(listing).toContain(long);
  });

  it('breaks a workspace with the error it was given', async () => {
    const error = new Error('gone');
    await expect(bytesOf(brokenWorkspace('0', error).open())).rejects.toBe(error);
  });

  it('waits for what happens, and fails with what it saw when it does not', async () => {
    let count = 0;
    expect(
      await eventually(
        async () => (count += 1),
        (seen) => seen === 3,
      ),
    ).toBe(3);
    await expect(
      eventually(
        async () => 'never',
        () => false,
        50,
      ),
    ).rejects.toThrow('"never"');
  });

  it('says how one of its tests fails: also one that never ends, and none when there is no such test', async () => {
    const wrong = new Error('wrong');
    const suite = ({ describe, it }: TestRunner) =>
      describe('suite', () => {
        it('passes', async () => {});
        it('fails', async () => await Promise.reject(wrong));
        it('fails with nothing', async () => await Promise.reject());
        it('never ends', () => new Promise(() => {}));
        it('twice', async () => {});
        it('twice', async () => {});
      });
    expect(await failureOf(suite, 'passes')).toBeUndefined();
    expect(await failureOf(suite, 'fails')).toBe(wrong);
    expect(await failureOf(suite, 'fails with nothing')).toBeDefined();
    expect((await failureOf(suite, 'never ends', 20))?.message).toContain('20 ms');
    await expect(failureOf(suite, 'absent')).rejects.toThrow("no tests 'absent'");
    await expect(failureOf(suite, 'twice')).rejects.toThrow("2 tests 'twice'");
  });

  it('turns an absent backend into a visible skip, and into a failure where it is required', async () => {
    const said: string[] = [];
    const runner = {
      describe: Object.assign(() => said.push('ran'), { skip: (title: string) => void said.push(title) }),
      it: () => {},
    };
    const before = process.env['LITTERBOX_REQUIRE'];
    try {
      process.env['LITTERBOX_REQUIRE'] = '';
      (await forBackend('absent', runner, async () => 'it is not here')).describe('suite', () => {});
      expect(said).toEqual(['suite (skipped: it is not here)']);
      process.env['LITTERBOX_REQUIRE'] = 'other,absent';
      await expect(forBackend('absent', runner, async () => 'it is not here')).rejects.toThrow('it is not here');
    } finally {
      process.env['LITTERBOX_REQUIRE'] = before;
    }
  });
});
