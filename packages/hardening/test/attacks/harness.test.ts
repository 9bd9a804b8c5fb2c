import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  attackFixture,
  CANARY_VARIABLE,
  canary,
  fakeInternet,
  findCanaries,
  hostEnvironment,
  onTheHost,
  searchProcesses,
} from '../../src/index.ts';

describe('the harness of attacks finds what an attack achieved', () => {
  const one = canary('test');
  const random = one.secret.slice(-32);
  it.each([
    ['plain', one.secret],
    ['base64', Buffer.from(one.secret).toString('base64')],
    ['base64 after one byte', Buffer.from(`1${random}`).toString('base64')],
    ['base64 after two bytes, in the middle', Buffer.from(`12${random} and more`).toString('base64')],
    ['hexadecimal', Buffer.from(one.secret).toString('hex')],
    ['URL-encoded', encodeURIComponent(one.secret)],
    ['URL-encoded throughout', Buffer.from(random).toString('hex').replace(/../g, '%$&')],
    ['reversed', Buffer.from(one.secret).reverse().toString()],
  ])('a secret that is %s', (_, text) => {
    expect(findCanaries([one], 'it', `noise ${text} noise`)).toEqual(['the secret in test is in it']);
    expect(findCanaries([canary('other')], 'it', text)).toEqual([]);
  });

  it('a secret in the environment and the arguments of a process', async () => {
    await using _variables = await hostEnvironment({ [CANARY_VARIABLE]: one.secret });
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
    const other = spawn('sh', ['-c', 'read -r word', random], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    try {
      await Promise.all([once(child, 'spawn'), once(other, 'spawn')]);
      expect(searchProcesses([one])).toEqual([
        `the secret in test is in environ of process ${child.pid} (sleep)`,
        `the secret in test is in cmdline of process ${other.pid} (sh)`,
      ]);
    } finally {
      for (const process of [child, other]) {
        process.kill('SIGKILL');
        await once(process, 'close');
      }
    }
    expect(searchProcesses([one])).toEqual([]);
  });

  it('marks, a changed repository, a changed home, secrets in files, objects, output', async () => {
    await using fixture = await attackFixture();
    const [home, environment, env] = fixture.canaries;
    expect(await fixture.achieved()).toEqual([]);
    const sandbox = await fixture.open().create({ name: 'one' });
    expect(await fixture.achieved()).toEqual([]);
    onTheHost(['sh', '-c', fixture.marks.touch('A00')]);
    fixture.scratch.file('new', 'x');
    fixture.scratch.file('.git/hooks/post-merge', 'x');
    writeFileSync(join(fixture.home, '.bashrc'), 'x');
    await sandbox.files.write('leak', env?.secret ?? '');
    await fixture.run(sandbox, ['printf', '%s', Buffer.from(environment?.secret ?? '').toString('base64')]);
    writeFileSync(join(fixture.scratch.stateDirectory, 'log'), home?.secret ?? '');
    const achieved = (await fixture.achieved()).join('\n');
    for (const sentence of [
      'A00 ran on the host',
      'the repository changed at new: absent became',
      'the repository changed at .git/hooks/post-merge: absent became',
      `the machine changed at ${fixture.home}/.bashrc: absent became`,
      'the secret in env is in an object of',
      'the secret in environment is in the output of a command',
      `the secret in home is in ${fixture.scratch.stateDirectory}/log`,
    ])
      expect(achieved).toContain(sentence);
    fixture.marks.clear();
    expect(fixture.marks.found()).toEqual([]);
  });

  if (process.getuid?.() === 0) {
    it('a connection, a datagram and a ping over the fake internet', async () => {
      await using internet = await fakeInternet();
      const talk = `exec 3<>/dev/tcp/1.1.1.1/443; read -r line <&3; echo "$line"; echo x >/dev/udp/8.8.8.8/53`;
      expect(onTheHost(internet.enter(['bash', '-c', talk])).stdout).toBe('HTTP/1.0 200 OK\r\n');
      const heard = (await internet.heard()).join('\n');
      expect(heard).toMatch(/^ip6 10\.99\.0\.2:\d+ > 1\.1\.1\.1:443$/m);
      expect(heard).toMatch(/^ip17 10\.99\.0\.2:\d+ > 8\.8\.8\.8:53$/m);
    });
  }
});
