import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { findDockerSocket } from '../src/find-docker-socket.ts';

const NAMES = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'] as const;
const before = new Map(NAMES.map((name) => [name, process.env[name]]));
let directory = '';

async function context(name: string, endpoint: string): Promise<void> {
  const at = join(directory, 'contexts', 'meta', createHash('sha256').update(name).digest('hex'));
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: endpoint } } }));
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'litterbox-context-'));
  for (const name of NAMES) delete process.env[name];
  process.env['DOCKER_CONFIG'] = directory;
});

afterEach(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await rm(directory, { recursive: true, force: true });
});

describe('the socket of Docker', () => {
  it('is that of DOCKER_HOST before everything else', async () => {
    process.env['DOCKER_HOST'] = 'unix:///run/one.sock';
    process.env['DOCKER_CONTEXT'] = 'other';
    expect(await findDockerSocket('docker', localHost())).toBe('/run/one.sock');
  });

  it('is that of DOCKER_CONTEXT, or of the context in use (R19)', async () => {
    await context('mine', 'unix:///run/mine.sock');
    await context('other', 'unix:///run/other.sock');
    await writeFile(join(directory, 'config.json'), JSON.stringify({ currentContext: 'mine' }));
    expect(await findDockerSocket('docker', localHost())).toBe('/run/mine.sock');
    process.env['DOCKER_CONTEXT'] = 'other';
    expect(await findDockerSocket('docker', localHost())).toBe('/run/other.sock');
  });

  it('is what the login on that machine has, wherever that is', async () => {
    process.env['DOCKER_HOST'] = 'unix:///run/here.sock';
    const environment = { DOCKER_HOST: 'unix:///run/there.sock' };
    const there = { ...localHost(), name: 'build-box', environment };
    expect(await findDockerSocket('docker@build-box', there)).toBe('/run/there.sock');
    const elsewhere = { ...there, environment: { DOCKER_HOST: 'tcp://127.0.0.1:2375' } };
    await expect(findDockerSocket('docker@build-box', elsewhere)).rejects.toMatchObject({
      details: { provider: 'docker@build-box' },
    });
  });

  it('is refused when it is on the network, over SSH, or a path that is not absolute', async () => {
    for (const endpoint of [
      'tcp://127.0.0.1:2375',
      'ssh://host',
      'http://x',
      'unix://relative',
      'npipe:////./pipe/x',
    ]) {
      process.env['DOCKER_HOST'] = endpoint;
      await expect(findDockerSocket('docker', localHost())).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        details: { hint: expect.stringContaining('unix://') },
      });
    }
  });

  it('of a context that is in use and not there says which, and a broken configuration is passed over', async () => {
    await writeFile(join(directory, 'config.json'), JSON.stringify({ currentContext: '../../etc' }));
    await expect(findDockerSocket('docker', localHost())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await writeFile(join(directory, 'config.json'), '{');
    const outcome = await findDockerSocket('docker', localHost()).catch((error: { code: string }) => error.code);
    expect(outcome === 'UNAVAILABLE' || outcome.endsWith('docker.sock')).toBe(true);
  });
});
