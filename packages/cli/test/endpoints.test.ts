import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { keyServer } from '@litterbox/testing';
import { CliFixture } from './cli-fixture.ts';

const ASK = `use IO::Socket::INET; $at = $ENV{ANTHROPIC_BASE_URL} =~ s#http://##r; $s = IO::Socket::INET->new($at) or die "nothing listens";
print $s "GET /v1/models HTTP/1.1\\r\\nHost: $at\\r\\nx-api-key: $ENV{ANTHROPIC_API_KEY}\\r\\nConnection: close\\r\\n\\r\\n"; print <$s>`;

it('AX137: no key in files, outputs and audit', async () => {
  await using fixture = new CliFixture();
  const key = `sk-real-${randomBytes(16).toString('hex')}`;
  await using server = await keyServer(key);
  const ca = join(fixture.directory, 'ca.pem');
  writeFileSync(ca, server.certificate);
  fixture.file('ask.pl', ASK);
  fixture.file(
    '.litterbox.toml',
    `[secrets]\nKEY = { environment = "MODEL_KEY" }\n[endpoints.model]\nkind = "anthropic"\nurl = "${server.url}"\nsecret = "KEY"\nsetup = true\n[container]\nsetup-command = "perl ask.pl >asked.txt && env >>asked.txt"\n`,
  );
  fixture.git('add', '-A');
  fixture.git('commit', '-qm', 'ask');
  const outputs: string[] = [];
  const run = async (...args: readonly string[]) => {
    const ran = await fixture.run(args, undefined, { MODEL_KEY: key, NODE_EXTRA_CA_CERTS: ca });
    outputs.push(ran.stdout, ran.stderr);
    return ran;
  };
  expect((await run('create', 'a')).code).toBe(4); // nobody agreed
  const shown = await run('trust', '--show');
  expect(shown.stdout).toContain('endpoints.model = ');
  expect((await run('trust', '--yes')).code).toBe(0);
  expect(JSON.parse((await run('secret', 'check', '--json')).stdout)).toEqual([
    { name: 'KEY', from: 'environment MODEL_KEY' },
  ]);
  const created = await run('create', 'a');
  expect({ code: created.code, stderr: created.code === 0 ? '' : created.stderr }).toEqual({ code: 0, stderr: '' });
  expect((await run('run', 'a', '--', 'perl', 'ask.pl')).stdout).toMatch(/^HTTP\/1\.1 200 [^]*welcome/);
  expect((await run('run', 'a', '--', 'sh', '-c', 'env; cat /proc/*/environ; true')).code).toBe(0);
  const { stdout: audit } = await run('audit', '--json');
  expect(audit).toContain('endpoint-request');
  await run('explain', 'a', '--json');
  await run('log', 'a', '--json');
  expect((await run('run', 'a', 'cat asked.txt')).stdout).toMatch(/^HTTP\/1\.1 200 [^]*welcome/); // by its setup
  expect(server.heard).toEqual(['GET /v1/models 200', 'GET /v1/models 200']);
  expect(outputs.join('\n')).not.toContain(key);
  const holding = execFileSync('sh', ['-c', 'grep -rlaF -e "$0" "$1" || true', key, fixture.directory], {
    encoding: 'utf8',
  });
  expect(holding).toBe('');
});

it('FC-369: goes by the proxy of the person, also in what outlives a command, and says what that answers', async () => {
  const asked: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      asked.push(head.toString('latin1').split('\r\n', 1)[0] ?? '');
      socket.end('HTTP/1.1 418 no\r\n\r\n');
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    await using fixture = new CliFixture();
    const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    fixture.file('ask.pl', ASK);
    fixture.file(
      '.litterbox.toml',
      '[secrets]\nKEY = { environment = "MODEL_KEY" }\n[endpoints.model]\nkind = "anthropic"\nsecret = "KEY"\n',
    );
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'ask');
    const run = async (...args: readonly string[]) =>
      await fixture.run(args, undefined, { MODEL_KEY: 'sk-real-0123456789', HTTPS_PROXY });
    await run('trust', '--yes');
    expect(await run('create', 'a')).toMatchObject({ code: 0 });
    const { stdout } = await run('run', 'a', '--', 'perl', 'ask.pl');
    expect(stdout).toContain('HTTP/1.1 502');
    expect(stdout).toContain(`(${HTTPS_PROXY.slice('http://'.length)}) answered 418 for api.anthropic.com`);
    expect(asked).toEqual(['CONNECT api.anthropic.com:443 HTTP/1.1']);
  } finally {
    proxy.close();
  }
});

it('a check of secrets says in one document what is missing, by its exit status too', async () => {
  await using fixture = new CliFixture();
  fixture.file('.litterbox.toml', '[secrets]\nA = { environment = "HAS" }\nB = { environment = "HAS_NOT" }\n');
  await fixture.run(['trust', '--yes']);
  const checked = await fixture.run(['secret', 'check', '--json'], undefined, { HAS: 'token-of-the-person' });
  expect({ code: checked.code, document: JSON.parse(checked.stdout) }).toEqual({
    code: 3,
    document: [
      { name: 'A', from: 'environment HAS' },
      { name: 'B', from: 'environment HAS_NOT', code: 'SECRET_NOT_FOUND', message: expect.any(String) },
    ],
  });
  expect((await fixture.run(['secret', 'check', 'A'], undefined, { HAS: 'token-of-the-person' })).code).toBe(0);
});
