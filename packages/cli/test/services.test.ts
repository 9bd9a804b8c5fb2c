import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { CliFixture } from './cli-fixture.ts';

const CONFIG = `[container.ports]
web = 8080
[container.services.web]
command = ["node", "web.mjs"]
health = { port = "web" }
`;

const WEB = `import http from 'node:http';
console.log('begins');
setInterval(() => console.log('tick'), 100);
const chunk = Buffer.alloc(65536);
http.createServer((request, response) => {
  if (request.url === '/') return response.end('hello ' + process.pid);
  let left = Number(request.url.slice(1));
  const send = () => {
    for (; left > 0; left -= chunk.length) if (!response.write(chunk)) { left -= chunk.length; return response.once('drain', send); }
    response.end();
  };
  send();
}).listen(8080, '127.0.0.1');
`;
const GIBIBYTE = 2 ** 30;

async function served(config = CONFIG): Promise<CliFixture> {
  const fixture = new CliFixture();
  writeFileSync(join(fixture.repository, '.litterbox.toml'), config);
  writeFileSync(join(fixture.repository, 'web.mjs'), WEB);
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'web');
  await fixture.run(['trust', '--yes']);
  return fixture;
}

/** Processes on this machine that were started for this fixture, by what their arguments hold. */
function processes(fixture: CliFixture, word: string): readonly number[] {
  const home = `LITTERBOX_HOME=${fixture.environment['LITTERBOX_HOME']}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return (
          readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word) &&
          readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(home)
        );
      } catch {
        return false; // gone, or somebody else's
      }
    })
    .map(Number);
}

const keepers = (fixture: CliFixture) => processes(fixture, '--eval');

async function told(port: number): Promise<string> {
  return await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then(
    async (answer) => await answer.text(),
    (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? String(error),
  );
}

async function portOf(fixture: CliFixture, name: string): Promise<number> {
  const { stdout } = await fixture.run(['ports', name, '--json']);
  return (JSON.parse(stdout) as { readonly outside: number }[])[0]?.outside ?? 0;
}

describe('services and ports on the command line', () => {
  it('outlive the command that made them; create, ports, service and logs tell of them', async () => {
    await using fixture = await served();
    const created = await fixture.run(['create', 'one']);
    expect({ code: created.code, stdout: created.stdout }).toEqual({ code: 0, stdout: 'one\n' });
    const [, number = ''] = /port web: http:\/\/127\.0\.0\.1:(\d+)\/ leads to 8080 inside/.exec(created.stderr) ?? [];
    expect(await told(Number(number))).toMatch(/^hello \d+$/);
    const ports = await fixture.run(['ports', 'one']);
    expect(ports.stdout).toBe(`web\t8080\thttp://127.0.0.1:${number}/\tanswers\n`);
    expect((await fixture.run(['service', 'one', 'status'])).stdout).toMatch(/^web\trunning\t/);
    expect((await fixture.run(['logs', 'one', 'web'])).stdout).toMatch(/^begins\ntick\n/);
    const before = await told(Number(number));
    expect((await fixture.run(['service', 'one', 'restart', 'web'])).stdout).toMatch(/^web\trunning\t/);
    expect(await told(Number(number))).not.toBe(before);
    expect((await fixture.run(['service', 'one', 'stop', '--json'])).stdout).toContain('"state":"stopped"');
    expect(await told(Number(number))).toBe('ECONNRESET');
    expect((await fixture.run(['run', 'one', 'echo $LITTERBOX_FWD_PORT_WEB'])).stdout).toBe(`${number}\n`);
  });

  it('a gigabyte goes through a port, and who carries it does not grow', async () => {
    await using fixture = await served();
    await fixture.run(['create', 'bulk']);
    const port = await portOf(fixture, 'bulk');
    const [keeper] = keepers(fixture);
    const kibibytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${keeper}/status`, 'utf8'))?.[1]);
    const take = async (bytes: number) => {
      let taken = 0;
      for await (const part of (await fetch(`http://127.0.0.1:${port}/${bytes}`)).body ?? []) taken += part.length;
      return taken;
    };
    // Buffers that V8 has not collected yet add up to its limit for what is outside of its heap, 64 MiB, and then to no more.
    await take(GIBIBYTE / 4);
    const before = kibibytes('VmHWM');
    expect(await take(GIBIBYTE)).toBe(GIBIBYTE);
    expect(kibibytes('VmHWM') - before).toBeLessThan(32 * 1024);
    expect(before).toBeGreaterThan(10 * 1024);
  });

  it('logs -f stays until it is interrupted', async () => {
    await using fixture = await served();
    await fixture.run(['create', 'one']);
    const following = fixture.start(['logs', 'one', 'web', '-f']);
    let text = '';
    following.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await eventually(
      async () => text.split('tick').length,
      (ticks) => ticks > 5,
    );
    following.kill('SIGINT');
    expect(await once(following, 'exit')).toEqual([130, null]);
  });

  it('a keeper that is killed is followed by another one with the same port, and leaves no service behind', async () => {
    // One that prints nothing does not notice that nobody reads it any more.
    await using fixture = await served(`${CONFIG}[container.services.quiet]\ncommand = ["sleep", "7654"]\n`);
    await fixture.run(['create', 'one']);
    const port = await portOf(fixture, 'one');
    const holder = fixture.start(['run', 'one', 'echo on; sleep 100']); // the sandbox lives on without its keeper
    let text = '';
    holder.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await eventually(
      async () => text,
      (said) => said === 'on\n',
    );
    const [keeper = 0, ...others] = keepers(fixture);
    expect({ isKeeperAbove: keeper > 0, others }).toEqual({ isKeeperAbove: true, others: [] });
    process.kill(keeper, 'SIGKILL');
    await eventually(
      async () => await told(port),
      (answer) => answer === 'ECONNREFUSED',
    );
    expect((await fixture.run(['ports', 'one'])).code).toBe(0);
    holder.kill('SIGTERM');
    await once(holder, 'exit');
    expect((await fixture.run(['service', 'one', 'start'])).stdout).toMatch(/^web\trunning\t.*\nquiet\trunning\t/);
    expect(await portOf(fixture, 'one')).toBe(port);
    expect(await told(port)).toMatch(/^hello \d+$/);
    const running = await fixture.run([
      'run',
      'one',
      '--',
      'sh',
      '-c',
      'grep -l "[7]654" /proc/[0-9]*/cmdline | wc -l',
    ]);
    expect(running.stdout.trim()).toBe('1');
  });

  it('commands at the same time start one keeper', async () => {
    await using fixture = await served();
    await fixture.run(['create', 'one']);
    for (const keeper of keepers(fixture)) process.kill(keeper, 'SIGKILL');
    const ran = await Promise.all(Array.from({ length: 4 }, () => fixture.run(['ports', 'one'])));
    expect(ran.map(({ code, stdout }) => [code, stdout.split('\t')[2]])).toEqual(
      Array.from({ length: 4 }, () => [0, ran[0]?.stdout.split('\t')[2]]),
    );
    await eventually(
      async () => keepers(fixture).length,
      (count) => count === 1,
    );
  });

  it('a pause keeps keeper and connections, a stop ends them, a resume brings them back, a delete leaves nothing', async () => {
    await using fixture = await served();
    await fixture.run(['create', 'one']);
    const port = await portOf(fixture, 'one');
    const first = keepers(fixture);
    expect(first).toHaveLength(1);
    const open = connect(port, '127.0.0.1');
    let text = '';
    open.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    open.on('error', () => {});
    await once(open, 'connect');
    const before = await told(port);
    await fixture.run(['pause', 'one']);
    expect(keepers(fixture)).toEqual(first);
    expect(await told(port)).toBe('ECONNRESET');
    open.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await fixture.run(['resume', 'one']);
    await eventually(
      async () => text,
      (got) => got.includes(before),
    );
    open.destroy();
    expect(await told(port)).toBe(before);
    await fixture.run(['pause', 'one', '--stop']);
    await eventually(
      async () => keepers(fixture),
      (found) => found.length === 0,
    );
    expect(await told(port)).toBe('ECONNREFUSED');
    await fixture.run(['resume', 'one']);
    await eventually(
      async () => await told(port),
      (answer) => answer.startsWith('hello'),
    );
    await fixture.run(['delete', 'one', '--force']);
    expect(await told(port)).toBe('ECONNREFUSED');
    await eventually(
      async () => keepers(fixture),
      (found) => found.length === 0,
    );
    expect(readdirSync(join(fixture.environment['LITTERBOX_HOME'] ?? '', 'keepers'))).toEqual([]);
  });

  it('--open starts the browser with an address of ours', async () => {
    await using fixture = await served();
    await fixture.run(['create', 'one']);
    const port = await portOf(fixture, 'one');
    const program = join(fixture.repository, '..', 'xdg-open');
    const opened = join(fixture.repository, '..', 'opened');
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" >${opened}.new; mv ${opened}.new ${opened}\n`, {
      mode: 0o755,
    });
    const ran = await fixture.run(['ports', 'one', '--open', 'web'], undefined, {
      PATH: `${join(fixture.repository, '..')}:${fixture.environment['PATH']}`,
    });
    expect(ran.code).toBe(0);
    await eventually(
      async () => existsSync(opened) && readFileSync(opened, 'utf8'),
      (text) => text === `1\nhttp://127.0.0.1:${port}/\n`,
    );
  });
});
