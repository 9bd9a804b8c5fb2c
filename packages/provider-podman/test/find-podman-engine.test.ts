import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { findPodmanEngine, findPodmanSocketThere } from '../src/find-podman-engine.ts';

/** What `podman machine init` writes on a machine without Linux: a fixture, not seen on one. */
const MACHINE = {
  Connection: {
    Default: 'podman-machine-default',
    Connections: {
      'podman-machine-default': {
        URI: 'ssh://core@127.0.0.1:50312/run/user/501/podman/podman.sock',
        Identity: '/Users/me/.local/share/containers/podman/machine/machine',
        IsMachine: true,
      },
      'podman-machine-default-root': {
        URI: 'ssh://root@127.0.0.1:50312/run/podman/podman.sock',
        Identity: '/Users/me/.local/share/containers/podman/machine/machine',
        IsMachine: true,
      },
    },
  },
  Farm: {},
};

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'litterbox-podman-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** A machine whose login is the test's. */
function machine({
  platform = 'linux',
  environment = {},
}: {
  platform?: string;
  environment?: Host['environment'];
} = {}): Host {
  const host = localHost();
  return {
    ...host,
    environment: { TMPDIR: join(home, 'tmp'), ...environment },
    facts: async (call) => ({ ...(await host.facts(call)), platform, homeDirectory: home, uid: 501 }),
  };
}

const find = async (one: Parameters<typeof machine>[0]) => await findPodmanEngine('podman', machine(one), '/nowhere');

async function put(path: string, text: string): Promise<void> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

const root = {
  type: 'ssh',
  destination: 'root@127.0.0.1:50312',
  path: '/run/podman/podman.sock',
  identityFile: '/Users/me/.local/share/containers/podman/machine/machine',
};

describe('the engine of Podman', () => {
  it('is that of CONTAINER_HOST before everything else, with the key of CONTAINER_SSHKEY', async () => {
    await put('.config/containers/podman-connections.json', JSON.stringify(MACHINE));
    const CONTAINER_CONNECTION = 'podman-machine-default-root';
    expect(await find({ environment: { CONTAINER_HOST: 'unix:///run/one.sock', CONTAINER_CONNECTION } })).toEqual({
      type: 'unix',
      path: '/run/one.sock',
    });
    const environment = {
      CONTAINER_HOST: 'ssh://me@box:2222/run/podman/podman.sock',
      CONTAINER_SSHKEY: '/home/me/key',
    };
    expect(await find({ environment })).toEqual({
      type: 'ssh',
      destination: 'me@box:2222',
      path: '/run/podman/podman.sock',
      identityFile: '/home/me/key',
    });
  });

  it('is the connection that is named, of either file', async () => {
    await put('.config/containers/podman-connections.json', JSON.stringify(MACHINE));
    await put(
      '.config/containers/containers.conf',
      '[engine]\nactive_service = "old"\n[engine.service_destinations.old]\nuri = "unix:///run/old.sock"\n',
    );
    expect(await find({ environment: { CONTAINER_CONNECTION: 'podman-machine-default-root' } })).toEqual(root);
    expect(await find({ environment: { CONTAINER_CONNECTION: 'old' } })).toEqual({
      type: 'unix',
      path: '/run/old.sock',
    });
    for (const name of ['none', '__proto__', 'constructor'])
      await expect(find({ environment: { CONTAINER_CONNECTION: name } })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        details: { hint: expect.stringContaining('podman system connection list') },
      });
  });

  it('on a machine without Linux is the socket that its own machine hands on, else that one over SSH', async () => {
    await expect(find({ platform: 'darwin' })).rejects.toMatchObject({
      details: { hint: expect.stringContaining('podman machine init') },
    });
    await put('.config/containers/podman-connections.json', JSON.stringify(MACHINE));
    expect(await find({ platform: 'darwin' })).toMatchObject({ type: 'ssh', destination: 'core@127.0.0.1:50312' });
    await put('tmp/podman/podman-machine-default-api.sock', '');
    expect(await find({ platform: 'darwin' })).toEqual({
      type: 'unix',
      path: join(home, 'tmp/podman/podman-machine-default-api.sock'),
    });
  });

  it('on the network is refused: Podman asks nobody there who he is', async () => {
    await expect(find({ environment: { CONTAINER_HOST: 'tcp://10.0.0.7:8080' } })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { hint: expect.stringContaining('ssh://USER@10.0.0.7') },
    });
    expect(await find({ environment: { CONTAINER_HOST: 'tcp://127.0.0.1:8080' } })).toEqual({
      type: 'tcp',
      host: '127.0.0.1',
      port: 8080,
    });
  });

  it('is not guessed from a file that cannot be read', async () => {
    await put('.config/containers/podman-connections.json', '{"Connection"');
    await expect(find({ environment: { CONTAINER_CONNECTION: 'x' } })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('podman-connections.json'),
    });
  });

  it('of a machine over SSH is the usual socket there, and none is started', async () => {
    const there = machine({ environment: { XDG_RUNTIME_DIR: join(home, 'run') } });
    await expect(findPodmanSocketThere('podman', there)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await put('run/podman/podman.sock', '');
    expect(await findPodmanSocketThere('podman', there)).toBe(join(home, 'run/podman/podman.sock'));
  });
});
