import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Hands } from '../hands.ts';
import { SavedOutputs } from './saved-outputs.ts';

/** Two outputs of one session, each where Claude Code 2.1.328 has it, and one file that is none. */
function session() {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-outputs-'));
  const at = (path: string, text: string) => {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
    return join(directory, path);
  };
  const outputs = new SavedOutputs();
  outputs.session(join(directory, 'home/session.jsonl'));
  const background = at('claude-0/session/tasks/b1.output', 'tick');
  const printed = at('claude-0/session/tasks/b2.output', 'short');
  const long = at('home/session/tool-results/b2.txt', 'long');
  const other = at('claude-0/session/tasks/b3.output', 'mine');
  for (const file of [background, printed]) outputs.printed(file);
  const written: [string, string][] = [];
  const hands = {
    files: {
      write: async (path: string, bytes: Uint8Array) => void written.push([path, Buffer.from(bytes).toString()]),
    },
  } as unknown as Hands;
  return {
    outputs,
    hands,
    written,
    files: { background, long, other },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

test('a command that names saved output finds it in the sandbox', async () => {
  using scene = session();
  const { background, long } = scene.files;
  const script = await scene.outputs.broughtInto(
    scene.hands,
    `eval 'tail ${background} | diff - "${long}"'; tail ${background}`,
  );
  expect(script).toBe(
    `eval 'tail /tmp/claude-outputs/b1.txt | diff - "/tmp/claude-outputs/b2.txt"'; tail /tmp/claude-outputs/b1.txt`,
  );
  expect(scene.written).toEqual([
    ['/tmp/claude-outputs/b1.txt', 'tick'],
    ['/tmp/claude-outputs/b2.txt', 'long'],
  ]);
});

test('no other file of this machine is brought in, and none by a link', async () => {
  using scene = session();
  const { other, long } = scene.files;
  rmSync(long);
  symlinkSync(other, long);
  for (const path of [other, long, `${long}x`, `${other}/../b3.output`])
    expect(await scene.outputs.broughtInto(scene.hands, `cat ${path}`)).toBe(`cat ${path}`);
  expect(scene.written).toEqual([]);
});
