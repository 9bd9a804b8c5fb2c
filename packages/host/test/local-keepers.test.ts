import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { LitterboxError, SandboxId } from '@litterbox/core/provider';
import { localKeepers } from '../src/index.ts';

const top = mkdtempSync(join(tmpdir(), 'litterbox-keepers-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

async function all(values: AsyncIterable<unknown> | undefined): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const value of values ?? []) found.push(value);
  return found;
}

describe('keepers', () => {
  it('are found by the sandbox, in a directory of any length that others cannot pass', async () => {
    const directory = join(top, 'd'.repeat(200), 'keepers');
    mkdirSync(join(directory, '..'), { recursive: true });
    const keepers = localKeepers({ directory });
    const id = SandboxId.make();
    expect(await keepers.ask(id, { verb: 'status' })).toBeUndefined();
    const serving = await keepers.serve(id, async function* (request) {
      yield request;
    });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(await all(await keepers.ask(id, { verb: 'logs', service: 'web' }))).toEqual([
      { verb: 'logs', service: 'web' },
    ]);
    expect(await keepers.ask(SandboxId.make(), { verb: 'status' })).toBeUndefined();
    await serving[Symbol.asyncDispose]();
    expect(await keepers.ask(id, { verb: 'status' })).toBeUndefined();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('hand on any text, and errors as what they are', async () => {
    const keepers = localKeepers({ directory: join(top, 'text') });
    const id = SandboxId.make();
    // Line ends of other kinds, half of a character, and enough for many pieces.
    const texts = ['a\u2028b\u2029c\r\nd\n', '\ud800', '{"end":true}\n', 'ä'.repeat(300_000), ''];
    await using _serving = await keepers.serve(id, async function* () {
      yield* texts;
      throw new LitterboxError('SERVICE_NOT_FOUND', 'none', { operation: 'x', hint: 'y' });
    });
    const got: unknown[] = [];
    const failure = await (async () => {
      for await (const value of (await keepers.ask(id, { verb: 'status' })) ?? []) got.push(value);
    })().catch((error: unknown) => error);
    expect(got).toEqual(texts);
    expect(failure).toMatchObject({ code: 'SERVICE_NOT_FOUND', message: 'none', details: { hint: 'y' } });
  });

  it('one that was killed is followed by another one at the same place', async () => {
    const directory = join(top, 'killed');
    mkdirSync(directory);
    const keepers = localKeepers({ directory });
    const id = SandboxId.make();
    writeFileSync(join(directory, `${id}.sock`), ''); // what is left of it
    await using _serving = await keepers.serve(id, async function* () {
      yield 'alive';
    });
    expect(await all(await keepers.ask(id, { verb: 'status' }))).toEqual(['alive']);
  });

  it('who no longer listens ends the answer', async () => {
    const keepers = localKeepers({ directory: join(top, 'gone') });
    const id = SandboxId.make();
    let ended = () => {};
    const end = new Promise<void>((resolve) => (ended = resolve));
    await using _serving = await keepers.serve(id, async function* (_request, { signal }) {
      yield 'first';
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
      ended();
    });
    for await (const value of (await keepers.ask(id, { verb: 'logs' })) ?? []) {
      expect(value).toBe('first');
      break;
    }
    await end;
  });
});
