import { spawn } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { encodeRaw } from '@litterbox/core/provider';
import { FIRST_SCRIPT } from '../src/process/first-script.ts';

/** The first lines that it says to this input; it waits for ever by itself. */
async function said(input: string, lines: number): Promise<string> {
  const first = spawn('/bin/sh', ['-c', FIRST_SCRIPT, 'WORD'], { detached: true });
  const ended = new Promise((resolve) => first.once('close', resolve));
  try {
    let text = '';
    const whole = new Promise<string>((resolve) => {
      for (const stream of [first.stdout, first.stderr])
        stream.on('data', (bytes) => {
          text += String(bytes);
          if (text.split('\n').length > lines) resolve(text);
        });
    });
    first.stdin.write(encodeRaw(input));
    return await whole;
  } finally {
    process.kill(-(first.pid ?? 0), 'SIGKILL');
    await ended;
  }
}

it('FC-521: what an engine passes on of the request before the first line begins nothing', async () => {
  const order = '{"stream":true,"stdin":true}\nWORD printf \'%s\\012\' "$lb_x" >/dev/null; echo begun\n';
  expect(await said(order, 2)).toBe('begun\n\u001eWORD gone 0\n');
});

it('a line is a format: bytes and line ends of the text are its own', async () => {
  expect(await said('WORD echo a\\012echo \\303\\251%%\\012exit 7\n', 3)).toBe('a\né%\n\u001eWORD gone 7\n');
});

it('what comes behind the line is the input of what it begins, and who comes later is told', async () => {
  expect(await said('WORD read -r lb_y; echo "got $lb_y"\nmore\nlate\n', 3)).toBe(
    'got more\n\u001eWORD gone 0\n\u001eWORD gone 1\n',
  );
});
