import { expect, test } from '@jest/globals';
import { lacksShell } from './engine-answers.ts';

test('a mount that fails is no image without a shell', () => {
  const said = (message: string) => lacksShell({ statusCode: 400, json: { message } });
  for (const message of [
    'unable to start container process: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown',
    'crun: executable file `/bin/sh` not found in $PATH: No such file or directory',
    'starting container process caused: executable file not found in $PATH',
  ])
    expect({ message, is: said(message) }).toEqual({ message, is: true });
  expect(said('error during container init: error mounting "/a" to rootfs at "/b": no such file or directory')).toBe(
    false,
  );
});
