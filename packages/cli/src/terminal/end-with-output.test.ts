import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const MODULE = new URL('end-with-output.ts', import.meta.url).href;

/** The exit status of a program whose reader is gone, and whether it came to its end. */
function ended(
  isEnding: boolean,
  stream: 'stdout' | 'stderr',
): { readonly code: number | null; readonly text: string } {
  const program = `
    import { endWithOutput } from ${JSON.stringify(MODULE)};
    endWithOutput(() => process.exit(5), () => ${isEnding});
    process.${stream}.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    setImmediate(() => { process.getBuiltinModule('node:fs').writeSync(${stream === 'stdout' ? 2 : 1}, 'done'); });
  `;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  return { code: status, text: stdout + stderr };
}

test.each(['stdout', 'stderr'] as const)(
  'who reads %s no more ends the program, as a shell tells of SIGPIPE',
  (stream) => {
    expect(ended(false, stream)).toEqual({ code: 141, text: '' });
  },
);

test.each(['stdout', 'stderr'] as const)('one that ends by a signal finishes although nobody reads %s', (stream) => {
  expect(ended(true, stream)).toEqual({ code: 0, text: 'done' });
});
