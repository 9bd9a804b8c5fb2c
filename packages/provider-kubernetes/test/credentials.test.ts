import { chmod, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type FakeCluster, fakeCluster, TOKEN } from './fake-cluster.ts';

/** A cluster whose kubeconfig names a program for credentials: a shell script. `$0.log` counts its runs. */
async function withProgram(script: string, cluster: FakeCluster = {}) {
  const tokens: string[] = [];
  const fake = await fakeCluster({
    answer(request, response) {
      tokens.push(String(request.headers.authorization));
      if (cluster.answer) cluster.answer(request, response);
      else response.end('{}');
    },
  });
  const program = join(dirname(fake.file), 'login');
  await writeFile(program, `#!/bin/sh\necho run >>"$0.log"\nn=$(wc -l <"$0.log")\n${script}\n`);
  await chmod(program, 0o755);
  const text = await readFile(fake.file, 'utf8');
  const exec = `{exec: {apiVersion: client.authentication.k8s.io/v1, command: ${program}, installHint: Get it.}}`;
  await writeFile(fake.file, text.replace(/user: \{token: [^}]*\}/, `user: ${exec}`));
  return { fake, tokens, program, runs: async () => (await readFile(`${program}.log`, 'utf8')).split('\n').length - 1 };
}

const give = (more = '') => `printf '{"status":{"token":"t%s"${more}}}' $((n))`;

test('FC-523: a program for credentials is told what is wanted, has no input, and runs once for all who ask at once', async () => {
  const { fake, tokens, runs } = await withProgram(
    `read -r line && exit 9\ncase $KUBERNETES_EXEC_INFO in *'"kind":"ExecCredential"'*) ;; *) exit 8 ;; esac\n${give()}`,
  );
  await using _fake = fake;
  await Promise.all(Array.from({ length: 5 }, () => fake.api.ask('provider.test', '/version')));
  expect(tokens).toEqual(Array.from({ length: 5 }, () => 'Bearer t1'));
  expect(await runs()).toBe(1);
});

test('FC-524: what it complains of is told, and what it printed is not', async () => {
  const { fake, program } = await withProgram("echo 'The session has expired: log in' >&2; echo secret; exit 1");
  await using _fake = fake;
  const words = { code: 'PERMISSION_DENIED', message: expect.stringContaining('The session has expired: log in.') };
  await expect(fake.api.ask('provider.test', '/version')).rejects.toMatchObject(words);
  await writeFile(program, '#!/bin/sh\necho secret\n');
  const error: unknown = await fake.api.ask('provider.test', '/version').catch((one: unknown) => one);
  expect(error).toMatchObject({ message: expect.stringContaining('gave no credentials') });
  expect(String(error)).not.toContain('secret');
});

test('FC-525: one that waits for ever holds up nobody who gives up, and ends with its reader', async () => {
  const { fake } = await withProgram('sleep 20 & wait');
  await using _fake = fake;
  const signal = AbortSignal.timeout(300);
  await expect(fake.api.ask('provider.test', '/version', { signal })).rejects.toThrow();
  const asked = fake.api.ask('provider.test', '/version').catch((error: unknown) => error);
  fake.api.close();
  expect(await asked).toMatchObject({ code: 'PERMISSION_DENIED' });
});

test('FC-526: credentials without a time are asked for anew when the cluster takes them no more', async () => {
  let taken = 'Bearer t1';
  const { fake, tokens } = await withProgram(give(), {
    answer: (request, response) =>
      void response.writeHead(request.headers.authorization === taken ? 200 : 401).end('{}'),
  });
  await using _fake = fake;
  await fake.api.ask('provider.test', '/version');
  taken = 'Bearer t2';
  await fake.api.ask('provider.test', '/version');
  expect(tokens).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  taken = 'none';
  await expect(fake.api.ask('provider.test', '/version')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(tokens).toHaveLength(5);
});

test('FC-526: a person who logs in again is known without a new start, and another cluster is not asked instead', async () => {
  let taken = `Bearer ${TOKEN}`;
  const answer: NonNullable<FakeCluster['answer']> = (request, response) =>
    void response.writeHead(request.headers.authorization === taken ? 200 : 401).end('{}');
  await using fake = await fakeCluster({ answer });
  const text = await readFile(fake.file, 'utf8');
  await fake.api.ask('provider.test', '/version');
  taken = 'Bearer new';
  await writeFile(fake.file, text.replace(TOKEN, 'new'));
  await fake.api.ask('provider.test', '/version');
  let others = 0;
  await using other = await fakeCluster({ answer: (_request, response) => void ((others += 1), response.end('{}')) });
  taken = 'none';
  await writeFile(fake.file, await readFile(other.file, 'utf8'));
  await expect(fake.api.ask('provider.test', '/version')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(others).toBe(0);
});
