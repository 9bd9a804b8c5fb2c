import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Progress } from '@litterbox/core/provider';
import { Machines } from '@litterbox/provider-vm';
import { FakePrograms } from './fake-programs.ts';
import { COLIMA_LIST, LIMA_LIST, WSL_LIST } from './recorded.ts';

let directory = '';
let programs: FakePrograms;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-vm-'));
  programs = new FakePrograms(join(directory, 'programs'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Programs that list what real ones list, and write down what they are asked. */
function recorded(): void {
  const asked = `echo "$0 $*" | sed 's|.*/||' >>${directory}/asked`;
  programs.file('lima.json', LIMA_LIST);
  programs.file('colima.json', COLIMA_LIST);
  programs.file('wsl.txt', Buffer.from(WSL_LIST, 'utf16le'));
  programs.add('limactl', `${asked}\n[ "$1" != list ] || cat ${programs.directory}/lima.json`);
  programs.add('colima', `${asked}\n[ "$1" != list ] || cat ${programs.directory}/colima.json`);
  programs.add('wsl.exe', `${asked}\n[ "$1" != --list ] || cat ${programs.directory}/wsl.txt`);
}

const asked = () => readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n');

test('the machines of Lima, Colima and WSL are listed by their names, and none is started', async () => {
  recorded();
  const found = await new Machines(programs.host).list();
  expect(found.map(({ host, address }) => `${host}: ${address}`)).toEqual([
    'lima:default: Lima, Running',
    'lima:docker: Lima, Stopped',
    'lima:bad: Lima, Broken',
    'colima:default: Colima, Running',
    'colima:big: Colima, Stopped',
    'wsl:ubuntu-24.04: WSL2, Running',
    'wsl:docker-desktop: WSL2, Stopped',
    expect.stringMatching(/^wsl:legacy: WSL2, it runs on WSL 1/),
    'wsl:debian: WSL2, Installing',
  ]);
  expect(asked().toSorted()).toEqual(['colima list --json', 'limactl list --json', 'wsl.exe --list --verbose']);
});

test('where nothing is installed there is no machine, and a name says how to set one up', async () => {
  const machines = new Machines(programs.host);
  expect(await machines.list()).toEqual([]);
  const errorOf = (host: string) => machines.wake(host).then(undefined, (error: unknown) => error);
  expect(await errorOf('lima:default')).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'lima:default cannot be reached: Lima is not installed.',
    details: { hint: 'Set it up once: brew install lima && limactl start --name=default.' },
  });
  expect(await errorOf('colima:x')).toMatchObject({
    details: { hint: 'Set it up once: brew install colima && colima start --profile x.' },
  });
  expect(await errorOf('wsl:ubuntu')).toMatchObject({
    details: { hint: 'Set it up once: wsl --install --distribution ubuntu.' },
  });
  expect(await errorOf('vmware:x')).toMatchObject({
    code: 'NOT_FOUND',
    details: { hint: 'Before the colon stands one of: lima, colima, wsl.' },
  });
});

test('a machine that is not there is told with those that are', async () => {
  recorded();
  await expect(new Machines(programs.host).wake('colima:other')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'Colima has no machine "other".',
    details: { hint: expect.stringMatching(/^There are: colima:default, colima:big\. Or: brew install colima/) },
  });
});

test('one that is stopped is started by who works there, told as it goes, and by nobody else', async () => {
  recorded();
  programs.add(
    'limactl',
    `echo "$*" >>${directory}/asked
case $1 in
list) cat ${programs.directory}/lima.json ;;
start) echo 'time="2026-11-26T12:00:00Z" level=info msg="[hostagent] Waiting for ssh"' >&2; echo 'READY' ;;
esac`,
  );
  const machines = new Machines(programs.host);
  await expect(machines.open('lima:docker', { hostKeys: [] })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'lima:docker does not run: Lima says that it is Stopped.',
  });
  expect(asked()).toEqual(['list --json']);
  const told: Progress[] = [];
  await machines.wake('lima:docker', { onProgress: (progress) => told.push(progress) });
  await machines.wake('lima:default');
  expect(asked()).toEqual(['list --json', 'list --json', 'start --tty=false Docker', 'list --json']);
  expect(told.map(({ message }) => message).toSorted()).toEqual([
    'Starting lima:docker',
    'Starting lima:docker: READY',
    'Starting lima:docker: [hostagent] Waiting for ssh',
  ]);
});

test('one that does not start is UNAVAILABLE, with what the program said last', async () => {
  recorded();
  programs.add(
    'colima',
    `case $1 in list) cat ${programs.directory}/colima.json ;; *) echo 'FATA[0001] no \u001b[31mdisk' >&2; exit 1 ;; esac`,
  );
  await expect(new Machines(programs.host).wake('colima:big')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'colima start --profile big ended with 1: FATA[0001] no \\x1b[31mdisk.',
  });
});

test('a distribution on WSL 1, and one that differs by capitals alone, are refused', async () => {
  recorded();
  const machines = new Machines(programs.host);
  await expect(machines.wake('wsl:legacy')).rejects.toMatchObject({
    message: expect.stringContaining('wsl --set-version Legacy 2'),
  });
  programs.file('lima.json', '{"name":"a","status":"Running"}\n{"name":"A","status":"Running"}\n');
  await expect(machines.wake('lima:a')).rejects.toMatchObject({ message: expect.stringContaining('capitals alone') });
});

test('on macOS Lima comes before Colima, what runs before what does not; on Windows the default distribution', async () => {
  recorded();
  const preferredOn = (platform: string) => new Machines(programs.hostOn(platform)).preferred();
  expect(await preferredOn('linux')).toBeUndefined();
  expect(await preferredOn('darwin')).toBe('lima:default');
  programs.file('lima.json', '{"name":"default","status":"Stopped"}\n{"name":"other","status":"Stopped"}\n');
  expect(await preferredOn('darwin')).toBe('colima:default');
  programs.file('colima.json', '{"name":"a","status":"Stopped"}\n');
  expect(await preferredOn('darwin')).toBe('lima:default');
  programs.file('lima.json', 'no list');
  expect(await preferredOn('darwin')).toBe('colima:a');
  programs.file('colima.json', '');
  expect(await preferredOn('darwin')).toBeUndefined();
  expect(await preferredOn('win32')).toBe('wsl:ubuntu-24.04');
});

test('a program that prints without end, or never ends, is given up', async () => {
  programs.add('limactl', 'yes');
  programs.add('colima', 'exit 3');
  const machines = new Machines(programs.host);
  await expect(machines.wake('lima:default')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  await expect(machines.wake('colima:default')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'colima list --json ended with 3.',
  });
  programs.add('limactl', 'exec sleep 1000');
  await expect(machines.wake('lima:default', { signal: AbortSignal.abort(new Error('mine')) })).rejects.toThrow('mine');
});

test('a repository that sets LIMA_HOME does not choose the machine', async () => {
  process.env['LIMA_HOME'] = join(directory, 'evil');
  try {
    programs.add('limactl', `[ -z "\${LIMA_HOME:-}" ] || echo '{"name":"evil","status":"Running"}'`);
    expect(await new Machines(programs.host).list()).toEqual([]);
  } finally {
    delete process.env['LIMA_HOME'];
  }
});

test('what leads to another computer, or over one, is refused before anything is sent', async () => {
  recorded();
  for (const config of [
    'Host lima-default\n  Hostname build.example.org\n  Port 22\n',
    'Host lima-default\n  Hostname 127.0.0.1\n  ProxyJump build.example.org\n',
    'Host lima-default\n  Hostname 127.0.0.1\n  ProxyCommand touch /tmp/x\n',
    'Host *\n',
    'nothing',
    '',
  ]) {
    programs.file('config', config);
    programs.add(
      'limactl',
      `case $1 in list) cat ${programs.directory}/lima.json ;; show-ssh) cat ${programs.directory}/config ;; esac`,
    );
    await expect(new Machines(programs.host).open('lima:default', { hostKeys: [] })).rejects.toMatchObject({
      code: expect.stringMatching(/^(PROVIDER_PROTOCOL_ERROR|UNSUPPORTED)$/),
    });
  }
});
