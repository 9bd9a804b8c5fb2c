import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from '@jest/globals';
import { describeSecretSource } from '@litterbox/conformance';
import type { ProcessHandle, SecretOrigin } from '@litterbox/core/provider';
import { hostSecrets, localHost } from '@litterbox/host';

const VALUE = 'tok-hunter2-ä';
const directory = await mkdtemp(join(tmpdir(), 'litterbox-secrets-'));
afterAll(async () => await rm(directory, { recursive: true }));

const at = (name: string) => join(directory, name);
const program = async (name: string, lines: string) =>
  await writeFile(at(name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
await writeFile(at('kept'), `${VALUE}\n`, { mode: 0o600 });
await program(
  'secret-tool',
  `case "$1 $2 $3" in
'lookup litterbox there') printf %s '${VALUE}' ;;
'lookup litterbox locked') echo '${VALUE} is locked' >&2; exit 1 ;;
*) exit 1 ;;
esac`,
);
await program(
  'pass',
  `case "$1 $2 $3" in
'show -- there') printf '%s\\nuser: ada\\n' '${VALUE}' ;;
'show -- store') printf '%s\\n' "$PASSWORD_STORE_DIR" ;;
'show -- asking') exec sleep 600 ;;
'show -- locked') echo 'gpg: ${VALUE}' >&2; exit 2 ;;
*) echo "Error: $3 is not in the password store." >&2; exit 1 ;;
esac`,
);
const host = {
  ...localHost({ programs: [directory, '/usr/bin', '/bin'] }),
  environment: { TOKEN: VALUE, EMPTY: '', LINES: `${VALUE}\nmore`, PASSWORD_STORE_DIR: '/store', PATH: '/elsewhere' },
};
const source = hostSecrets(host);

const KINDS: readonly (readonly [there: SecretOrigin, nowhere: SecretOrigin])[] = [
  [{ keychain: 'there' }, { keychain: 'nowhere' }],
  [{ pass: 'there' }, { pass: 'nowhere' }],
  [{ environment: 'TOKEN' }, { environment: 'EMPTY' }],
  [{ file: at('kept') }, { file: at('nowhere') }],
];
for (const [there, nowhere] of KINDS)
  describeSecretSource({
    name: `of this machine, by ${Object.keys(there).join()}`,
    runner: { describe, it },
    open: async () => source,
    there,
    value: VALUE,
    nowhere,
  });

const failure = async (origin: SecretOrigin, from = source) =>
  await from.read(origin).then(
    () => 'read',
    (error: Error & { code: string; details: unknown }) => {
      expect(JSON.stringify([error.message, error.details])).not.toContain(VALUE);
      return error.code;
    },
  );

test('a program that fails is told from one without the secret, and its words are not repeated', async () => {
  expect(await failure({ keychain: 'locked' })).toBe('UNAVAILABLE');
  expect(await failure({ pass: 'locked' })).toBe('UNAVAILABLE');
});

test('a program that waits for somebody who does not come is given up', async () => {
  expect(await failure({ pass: 'asking' }, hostSecrets(host, { timeoutMs: 100 }))).toBe('TIMED_OUT');
});

test('a program that is not there is missing', async () => {
  await mkdir(at('tools'));
  await symlink('/usr/bin/env', at('tools/env'));
  const bare = hostSecrets({ ...localHost({ programs: [at('tools')] }), environment: {} });
  expect(await failure({ pass: 'there' }, bare)).toBe('TOOL_MISSING');
});

test('a value that comes byte by byte is whole', async () => {
  const slow = {
    exit: Promise.resolve({ code: 0 }),
    async *[Symbol.asyncIterator]() {
      for (const byte of new TextEncoder().encode(VALUE)) yield { type: 'stdout-data', bytes: Uint8Array.of(byte) };
    },
    async [Symbol.asyncDispose]() {},
  } as Partial<ProcessHandle> as ProcessHandle;
  expect(await hostSecrets({ ...host, spawn: async () => slow }).read({ pass: 'there' })).toBe(VALUE);
});

test('a file of somebody else is not read', async () => {
  await writeFile(at('other'), VALUE, { mode: 0o600 });
  expect(await source.read({ file: at('other') })).toBe(VALUE); // the positive control
  if (process.getuid?.() === 0) await chown(at('other'), 61_100, 61_100);
  const other = process.getuid?.() === 0 ? at('other') : '/etc/passwd';
  expect(await failure({ file: other })).toBe('PERMISSION_DENIED');
});

test('pass hears where its store is', async () => {
  expect(await source.read({ pass: 'store' })).toBe('/store');
});

test('a file that others may read, a link or a directory is not read', async () => {
  await writeFile(at('open'), VALUE);
  for (const mode of [0o640, 0o604, 0o620]) {
    await chmod(at('open'), mode);
    expect(await failure({ file: at('open') })).toBe('PERMISSION_DENIED');
  }
  await chmod(at('open'), 0o400);
  expect(await source.read({ file: at('open') })).toBe(VALUE);
  await symlink(at('kept'), at('link'));
  expect(await failure({ file: at('link') })).toBe('PERMISSION_DENIED');
  execFileSync('mkfifo', ['-m', '600', at('pipe')]);
  expect(await failure({ file: at('pipe') })).toBe('PERMISSION_DENIED');
  await mkdir(at('closed'), { mode: 0o700 });
  expect(await failure({ file: at('closed') })).toBe('PERMISSION_DENIED');
});

test('a hint to copy runs nothing that a path says', async () => {
  await expect(source.read({ file: at('$(reboot)') })).rejects.toMatchObject({
    details: { hint: `To write it there: (umask 077 && cat > '${at('$(reboot)')}')` },
  });
});

test('a value of several lines, or too long, is refused and not repeated', async () => {
  expect(await failure({ environment: 'LINES' })).toBe('UNSUPPORTED');
  await writeFile(at('long'), 'x'.repeat(16_385), { mode: 0o600 });
  expect(await failure({ file: at('long') })).toBe('UNSUPPORTED');
});
