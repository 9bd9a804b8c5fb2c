import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { collected, describeLoopback, eventually } from '@litterbox/conformance';
import { type HostKey, openSshHost, type SshHost, type SshHostOptions } from '@litterbox/provider-ssh';
import { SshServer } from '@litterbox/testing';

let server: SshServer;
const open: AsyncDisposable[] = [];

beforeAll(async () => {
  server = await SshServer.start();
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
afterAll(() => server[Symbol.asyncDispose]());

async function log(on: SshServer, options: Partial<SshHostOptions> = {}): Promise<SshHost> {
  const host = await openSshHost({ ...on.login, ...options });
  open.push(host);
  return host;
}

async function started(config: readonly string[]): Promise<SshServer> {
  const own = await SshServer.start({ config });
  open.push(own);
  return own;
}

const echo = async (host: SshHost, word: string) =>
  (await collected(await host.spawn({ argv: ['echo', word] }))).stdout;

/** A home whose ssh directory knows nobody. */
function emptyHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'litterbox-home-'));
  open.push({ [Symbol.asyncDispose]: async () => rmSync(home, { recursive: true, force: true }) });
  return home;
}

it('FC-48: a machine that takes certificates alone is refused with the reason', async () => {
  const home = emptyHome();
  const ca = join(home, 'ca');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', ca]);
  const own = await started([`TrustedUserCAKeys ${ca}.pub`, 'AuthorizedKeysFile none']);
  execFileSync('ssh-keygen', ['-q', '-s', ca, '-I', 'test', '-n', own.user, `${own.identityFile}.pub`]);
  const certificate = `${own.identityFile}-cert.pub`;
  await expect(log(own)).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
    message: expect.stringContaining(`Litterbox cannot log in with certificates, such as ${certificate}.`),
    details: { hint: expect.stringContaining('authorized_keys') },
  });
});

describe('the key of the machine (A74)', () => {
  it('that nobody knows is refused before anything is sent, and told', async () => {
    const client = { home: emptyHome(), environment: {} };
    const fingerprint = execFileSync('ssh-keygen', ['-lf', join(server.directory, 'host-key.pub')], {
      encoding: 'utf8',
    }).split(' ')[1];
    await expect(log(server, { client })).rejects.toMatchObject({
      code: 'SSH_HOSTKEY_UNKNOWN',
      message: expect.stringContaining(fingerprint ?? 'SHA256'),
    });
  });

  it('that a person says yes to is told, so that it can be kept, and is not asked for again', async () => {
    const client = { home: emptyHome(), environment: {} };
    const asked: HostKey[] = [];
    const askHostKey: SshHostOptions['askHostKey'] = async (_machine, key) => {
      asked.push(key);
      return true;
    };
    const first = await log(server, { client, askHostKey });
    expect(first.acceptedKeys).toEqual(asked);
    const second = await log(server, { client, askHostKey, hostKeys: first.acceptedKeys });
    expect(await echo(second, 'known')).toBe('known\n');
    expect(asked).toHaveLength(1);
  });

  it('that is another one than is known is refused, whoever is asked', async () => {
    const other = mkdtempSync(join(server.directory, 'other-'));
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(other, 'key')]);
    const home = emptyHome();
    const key = readFileSync(join(other, 'key.pub'), 'utf8');
    execFileSync('mkdir', ['-p', join(home, '.ssh')]);
    writeFileSync(join(home, '.ssh', 'known_hosts'), `[127.0.0.1]:${server.port} ${key}`);
    const askHostKey = async () => true;
    await expect(log(server, { client: { home, environment: {} }, askHostKey })).rejects.toMatchObject({
      code: 'SSH_HOSTKEY_CHANGED',
    });
    writeFileSync(join(home, '.ssh', 'known_hosts'), `@revoked * ${server.knownHost.split(' ').slice(1).join(' ')}`);
    await expect(log(server, { client: { home, environment: {} }, askHostKey })).rejects.toMatchObject({
      code: 'SSH_HOSTKEY_CHANGED',
      message: expect.stringContaining('revoked'),
    });
  });

  it('is found in a file whose names are hashed', async () => {
    const home = emptyHome();
    execFileSync('mkdir', ['-p', join(home, '.ssh')]);
    const file = join(home, '.ssh', 'known_hosts');
    writeFileSync(file, server.knownHost);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file]);
    expect(readFileSync(file, 'utf8')).toContain('|1|');
    expect(await echo(await log(server, { client: { home, environment: {} } }), 'hashed')).toBe('hashed\n');
  });
});

describe('the login', () => {
  it('by the agent alone, which is never forwarded', async () => {
    const agent = spawn('ssh-agent', ['-D', '-a', join(server.directory, 'agent')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    for await (const _line of createInterface({ input: agent.stdout })) break;
    try {
      const environment = { SSH_AUTH_SOCK: join(server.directory, 'agent') };
      execFileSync('ssh-add', ['-q', server.identityFile], { env: { ...process.env, ...environment } });
      const host = await openSshHost({ destination: server.destination, client: { home: server.home, environment } });
      open.push(host);
      const inside = await collected(await host.spawn({ argv: ['sh', '-c', 'echo "${SSH_AUTH_SOCK-none}"'] }));
      expect(inside.stdout).toBe('none\n');
      expect(host.environment['SSH_AUTH_SOCK']).toBeUndefined();
    } finally {
      agent.kill('SIGTERM');
    }
  });

  it('without a key that is taken is PERMISSION_DENIED, and says how to go on', async () => {
    const own = mkdtempSync(join(server.directory, 'own-'));
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(own, 'key')]);
    await expect(log(server, { identityFile: join(own, 'key') })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      details: { hint: expect.stringContaining('ssh-add') },
    });
  });

  it('at a port where nothing listens is UNAVAILABLE', async () => {
    await expect(log(server, { destination: 'me@127.0.0.1:1' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('the configuration of the client (A75)', () => {
  const named = (text: string, home = emptyHome()) => {
    execFileSync('mkdir', ['-p', join(home, '.ssh')]);
    writeFileSync(join(home, '.ssh', 'config'), text);
    writeFileSync(join(home, '.ssh', 'known_hosts'), server.knownHost);
    return { home, environment: {} };
  };
  const box = () =>
    `Host box\n  HostName 127.0.0.1\n  Port ${server.port}\n  IdentityFile ${server.identityFile}\n  User root\n`;

  it('names machines, with what it includes', async () => {
    const home = emptyHome();
    const client = named('Include own/*\n', home);
    execFileSync('mkdir', ['-p', join(home, '.ssh', 'own')]);
    writeFileSync(join(home, '.ssh', 'own', 'boxes'), box());
    const host = await openSshHost({ destination: `${process.env['USER'] ?? 'root'}@box`, client });
    open.push(host);
    expect(await echo(host, 'found')).toBe('found\n');
  });

  it('runs nothing: neither a Match exec, nor what would make a name canonical, nor a ProxyCommand', async () => {
    const mark = join(server.directory, 'ran');
    const tools = mkdtempSync(join(server.directory, 'tools-'));
    writeFileSync(join(tools, 'nslookup'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    const client = named(
      `${box()}  CanonicalizeHostName yes\n  CanonicalDomains example.invalid example.test\nMatch originalhost box exec "touch ${mark}"\n  Port 1\n`,
    );
    // In a program of its own, which finds the lookup of names that the library would run.
    const options = { destination: 'root@box', client, identityFile: server.identityFile };
    const script = `import { openSshHost } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
const host = await openSshHost({ ...${JSON.stringify(options)}, onNotice: console.log });
await host[Symbol.asyncDispose]();
process.exit();`;
    const env = { PATH: `${tools}:${process.env['PATH']}` };
    const argv = ['--no-warnings', '--conditions=@litterbox/source', '--input-type=module', '--eval', script];
    expect(execFileSync(process.execPath, argv, { env, encoding: 'utf8' })).toContain('Match exec');
    expect(existsSync(mark)).toBe(false);
    execFileSync('nslookup', { env });
    expect(existsSync(mark)).toBe(true); // positive control
    rmSync(mark);
    const proxied = named(`Host box\n  ProxyCommand touch ${mark}\n`);
    await expect(openSshHost({ destination: 'box', client: proxied })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(existsSync(mark)).toBe(false);
    // Positive control: ssh itself runs the first.
    execFileSync('ssh', ['-F', join(client.home, '.ssh', 'config'), '-G', 'box']);
    expect(existsSync(mark)).toBe(true);
  });

  it('leads over other machines', async () => {
    const client = named(
      `Host jump\n  HostName 127.0.0.1\n  Port ${server.port}\n  IdentityFile ${server.identityFile}\n${box()}  ProxyJump ${server.destination.split('@')[0]}@jump\n`,
    );
    const host = await openSshHost({ destination: `${server.destination.split('@')[0]}@box`, client });
    open.push(host);
    const { stdout } = await collected(
      await host.spawn({ argv: ['sh', '-c', 'cat /proc/$PPID/environ | tr "\\0" "\\n" | grep -c SSH_ || true'] }),
    );
    expect(stdout).not.toBe('');
    expect(await echo(host, 'there')).toBe('there\n');
  });

  it.each([
    '-oProxyCommand=touch x',
    'a b',
    'h\nProxyCommand x',
    'ssh://h/%2e%2e',
    'a;id@h',
    'h:0',
    'h:70000',
    '[::1',
    '',
    '@h',
    'me@',
  ])('no destination is %j', async (destination) => {
    await expect(log(server, { destination })).rejects.toMatchObject({ code: 'SSH_HOST_INVALID' });
  });
});

describe('a server that allows little', () => {
  it.each([1, 2])('MaxSessions %i', async (most) => {
    const own = await started([`MaxSessions ${most}`]);
    const host = await log(own);
    const held = await Promise.all(Array.from({ length: 6 }, () => host.spawn({ argv: ['cat'], stdin: 'pipe' })));
    expect(await echo(host, 'more')).toBe('more\n');
    await Promise.all(held.map((one) => one[Symbol.asyncDispose]()));
  });

  it('a login that may run one command alone is UNAVAILABLE', async () => {
    const own = await started(['ForceCommand echo no shell here']);
    await expect(log(own)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('the loopback of the machine', () => {
  it('is not the one of this machine', async () => {
    const here = createServer((socket) => socket.end('here\n'));
    here.listen(0, '127.0.0.1');
    await once(here, 'listening');
    open.push({ [Symbol.asyncDispose]: async () => void here.close() });
    const { port } = here.address() as AddressInfo;
    const apart = await SshServer.startApart();
    open.push(apart);
    const there = { host: '127.0.0.1', port };
    await expect((await log(apart)).connect(there)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // The positive control: a machine in the network of this one reaches it.
    await using stream = await (await log(server)).connect(there);
    const { value } = await stream.readable.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('here\n');
  });
});

describe('a connection that is lost', () => {
  it('ends what it started, and the next call logs in again', async () => {
    const host = await log(server);
    const file = join(server.directory, 'pid');
    const running = await host.spawn({
      argv: ['sh', '-c', 'trap "" HUP TERM; echo $$ >"$0"; while :; do sleep 0.1; done', file],
    });
    await eventually(
      async () => existsSync(file) && readFileSync(file, 'utf8') !== '',
      (isThere) => isThere,
    );
    const pid = readFileSync(file, 'utf8').trim();
    for (const session of sessionsOf(server)) process.kill(session, 'SIGKILL');
    await expect(running.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await eventually(
      async () => existsSync(`/proc/${pid}`),
      (isAlive) => !isAlive,
    );
    expect(await echo(host, 'again')).toBe('again\n');
  });

  it('is an error while the server is away, and works again when it is back', async () => {
    const own = await started([]);
    const host = await log(own);
    await own.down();
    for (const session of sessionsOf(own)) process.kill(session, 'SIGKILL');
    await eventually(
      async () => await echo(host, 'x').catch((error: { readonly code?: string }) => error.code),
      (outcome) => outcome === 'UNAVAILABLE',
    );
    await own.up();
    expect(await echo(host, 'back')).toBe('back\n');
  });
});

describeLoopback({
  name: 'a machine over SSH',
  runner: { describe, it, afterAll },
  open: () => openSshHost(server.login),
  leavesNamespace: false,
});

/** Who serves the connections of a server: the processes that it started, and theirs that still serve. */
function sessionsOf({ port }: SshServer): readonly number[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address = '', , state]) => address.endsWith(local) && state === '01')
    .map((fields) => `socket:[${fields[9]}]`);
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && name !== String(process.pid))
    .filter((pid) => socketsOf(pid).some((socket) => inodes.includes(socket)))
    .map(Number);
}

function socketsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return ''; // it was closed meanwhile
      }
    });
  } catch {
    return []; // it has ended
  }
}
