import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { endpointGate } from '@litterbox/endpoints';
import { type KeyServer, keyServer } from '@litterbox/testing';
import type { Litterbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';

/** Its form is what a look inside searches for: who searches does not hold it. */
const FORM = 'sk-real-[0-9a-f]{32}';
const newKey = () => `sk-real-${randomBytes(16).toString('hex')}`;

/** `sh call.sh METHOD PATH [HEADER]` asks the endpoint, by whatever is there. */
const CALL = `at=\${LITTERBOX_ENDPOINT_MODEL#http://}
{ printf '%s %s HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\nx-api-key: %s\\r\\n%s\\r\\n' "$1" "$2" "$at" "$ANTHROPIC_API_KEY" "$3"; } >/tmp/asked
if command -v perl >/dev/null; then
exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new($ARGV[0]) or die "nothing listens\\n"; open F, "/tmp/asked"; local $/; print $s <F>; print <$s>' "$at"
else mkfifo /tmp/open; nc "\${at%:*}" "\${at#*:}" </tmp/open & exec 3>/tmp/open; cat /tmp/asked >&3; wait $!; rm /tmp/open; fi
`;

/** Where in the sandbox something of the form is: environments, arguments and memory of processes, and files. */
const LOOK = `for p in /proc/[0-9]*; do for f in environ cmdline; do grep -aoE '${FORM}' $p/$f 2>/dev/null | sed "s#^#$f of \${p#/proc/}: #"; done; done
grep -raoE '${FORM}' ~ /tmp /playground /dev/shm "$PWD" 2>/dev/null
if command -v perl >/dev/null; then exec perl -e 'for my $p (glob "/proc/[0-9]*") { open my $m, "<", "$p/maps" or next; open my $b, "<:raw", "$p/mem" or next;
while (<$m>) { next unless /^([0-9a-f]+)-([0-9a-f]+) r/; my ($s, $e) = (hex $1, hex $2); next if $e - $s > 2**28 || !sysseek $b, $s, 0; sysread $b, my $x, $e - $s; print "memory of $p: $1\\n" while $x =~ /(sk-real-[0-9a-f]{32})/g } }'; fi; true
`;

class EndpointFixture extends LibraryFixture {
  readonly key: string;
  readonly server: KeyServer;

  constructor(server: KeyServer, key: string) {
    super({
      'call.sh': CALL,
      'look.sh': LOOK,
      '.litterbox.toml': '',
    });
    this.key = key;
    this.server = this.use(server);
    writeFileSync(join(this.directory, 'key'), key, { mode: 0o600 });
    this.file(
      '.litterbox.toml',
      `[secrets]\nKEY = { file = "${this.directory}/key" }\n[endpoints.model]\nkind = "anthropic"\nurl = "${server.url}"\nsecret = "KEY"\n`,
    );
  }

  /** A trusted configuration, and endpoints that trust the server. */
  async trusted(): Promise<Litterbox> {
    const litterbox = this.open({ parts: { endpointGate: endpointGate({ ca: this.server.certificate }) } });
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    return litterbox;
  }
}

async function endpointFixture(): Promise<EndpointFixture> {
  const key = newKey();
  return new EndpointFixture(await keyServer(key), key);
}

it('a program inside works with a key that is nowhere inside', async () => {
  await using fixture = await endpointFixture();
  const sandbox = await (await fixture.trusted()).create({ name: 'a' });
  const call = (...args: readonly string[]) => sandbox.run(['sh', 'call.sh', ...args]);
  const { stdout } = await call('GET', '/v1/models?limit=1');
  expect(stdout).toMatch(/^HTTP\/1\.1 200 [^]*welcome/);
  expect(fixture.server.heard).toEqual(['GET /v1/models?limit=1 200']);
  for (const [method, path, status] of [
    ['DELETE', '/v1/models', 405],
    ['GET', '/admin', 403],
    ['GET', '/v1/../admin', 400],
  ] as const)
    expect((await call(method, path)).stdout).toContain(`HTTP/1.1 ${status} `);
  expect(fixture.server.heard).toHaveLength(1);
  const { stdout: variables } = await sandbox.run('env');
  expect(variables).toMatch(/^ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
  expect(variables).toMatch(/^ANTHROPIC_API_KEY=sk-ant-api03-.{95}$/m);
});

it('AX137: no key inside, while calls succeed', async () => {
  await using fixture = await endpointFixture();
  const sandbox = await (await fixture.trusted()).create({ name: 'a' });
  const decoy = newKey();
  const calling = `for i in 1 2 3; do sh call.sh POST /v1/messages >/tmp/said-$i; done; grep -c welcome /tmp/said-*; `;
  const look = async (before: string) => (await sandbox.run(`${calling}${before} sh look.sh`)).stdout;
  // Positive control: what is in a file and in the environment of a process is found, and in its memory where perl is.
  const found = await look(`echo ${decoy} >/tmp/decoy; DECOY=${decoy} sleep 60 & `);
  expect(found).toContain(`/tmp/decoy:${decoy}`);
  expect(found).toMatch(new RegExp(`environ of \\d+: ${decoy}`));
  expect(found).not.toContain(fixture.key);
  // What is left of the positive control is the only thing of the form.
  expect((await look('')).replaceAll(decoy, 'decoy')).not.toContain('sk-real-');
  expect(fixture.server.heard.filter((line) => line === 'POST /v1/messages 200')).toHaveLength(6);
});

it('another sandbox without the endpoint finds nothing, and the network stays closed', async () => {
  await using fixture = await endpointFixture();
  const litterbox = await fixture.trusted();
  const sandbox = await litterbox.create({ name: 'a' });
  const { stdout: at } = await sandbox.run('echo $LITTERBOX_ENDPOINT_MODEL');
  fixture.file('.litterbox.toml', '');
  const other = await litterbox.create({ name: 'b' });
  const call = `LITTERBOX_ENDPOINT_MODEL=${at.trim()} sh call.sh GET /v1/models`;
  const missed = await other.run(call);
  expect(`${missed.stdout}${missed.stderr}`).not.toContain('HTTP/1.1');
  const server = new URL(fixture.server.url).port;
  await sandbox.run(`LITTERBOX_ENDPOINT_MODEL=http://127.0.0.1:${server} sh call.sh GET /v1/models`);
  expect(fixture.server.heard).toEqual([]);
  expect((await sandbox.run('sh call.sh GET /v1/models')).stdout).toContain('welcome');
});

it('an endpoint is there again after the sandbox was stopped, and reads a key that was changed meanwhile', async () => {
  await using fixture = await endpointFixture();
  const litterbox = await fixture.trusted();
  const sandbox = await litterbox.create({ name: 'a' });
  await litterbox.setRunState('a', 'stopped');
  await litterbox.setRunState('a', 'ready');
  expect((await sandbox.run('sh call.sh GET /v1/models')).stdout).toContain('welcome');
  writeFileSync(join(fixture.directory, 'key'), 'another-key-0123456789', { mode: 0o600 });
  await litterbox.setRunState('a', 'stopped');
  await litterbox.setRunState('a', 'ready');
  expect((await sandbox.run('sh call.sh GET /v1/models')).stdout).toContain('HTTP/1.1 401');
});

it('a key that is missing refuses the sandbox, and leaves nothing', async () => {
  await using fixture = await endpointFixture();
  const litterbox = await fixture.trusted();
  writeFileSync(join(fixture.directory, 'key'), '', { mode: 0o600 });
  await expect(litterbox.create({ name: 'a' })).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
  expect(await litterbox.list()).toEqual([]);
});
