import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { findDockerEngine } from '../src/find-docker-engine.ts';
import { findSocketThere } from '../src/find-socket-there.ts';

/** A certificate that nobody is shown, in the place of the key too. It lasts a hundred years. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUbZAwYu1h7IvCWv4FsOf22j0yvywwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjcwMDA3MjhaGA8yMTI2MTEwMzAwMDcy
OFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBRY
+/DqRSPjdMJ+jSOZx2nIouGtPcahDBbE7TKU8TxLAZKlk/7PLHtRPFOv8tGq/G/M
SWzHJJjX60PrfowaORSjUzBRMB0GA1UdDgQWBBSAXK0KHjPTmnebWrzbEDI1k2m3
fjAfBgNVHSMEGDAWgBSAXK0KHjPTmnebWrzbEDI1k2m3fjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIQDYXolKnynNOF0I0YIz9KqOjvGK5clugEkm
PZKi9z1Y2wIgH5XyQT9XcfFdLyms7GaZJ20MUPgICv0hfghBq5fQge8=
-----END CERTIFICATE-----
`;
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'litterbox-context-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** This machine, with an environment of its own, whose Docker configuration is the test's. */
function machine(environment: Host['environment'] = {}): Host {
  return { ...localHost(), environment: { DOCKER_CONFIG: directory, ...environment } };
}

const find = async (environment?: Host['environment']) => await findDockerEngine('docker', machine(environment));
const digestOf = (name: string) => createHash('sha256').update(name).digest('hex');

async function context(name: string, Host: string, more: object = {}): Promise<void> {
  const at = join(directory, 'contexts', 'meta', digestOf(name));
  await mkdir(at, { recursive: true });
  const meta = { Name: name, Metadata: {}, Endpoints: { docker: { Host, SkipTLSVerify: false, ...more } } };
  await writeFile(join(at, 'meta.json'), JSON.stringify(meta));
}

async function certificates(at: string, names = ['ca', 'cert', 'key']): Promise<string> {
  await mkdir(at, { recursive: true });
  for (const name of names) await writeFile(join(at, `${name}.pem`), CERTIFICATE);
  return at;
}

const use = (name: string) => writeFile(join(directory, 'config.json'), JSON.stringify({ currentContext: name }));

describe('the engine of Docker', () => {
  it('is that of DOCKER_HOST before everything else', async () => {
    expect(await find({ DOCKER_HOST: 'unix:///run/one.sock', DOCKER_CONTEXT: 'other' })).toEqual({
      type: 'unix',
      path: '/run/one.sock',
    });
  });

  it('is that of DOCKER_CONTEXT, or of the context in use (R19)', async () => {
    await context('mine', 'unix:///run/mine.sock');
    await context('other', 'ssh://me@build.example.org:2222');
    await use('mine');
    expect(await find()).toEqual({ type: 'unix', path: '/run/mine.sock' });
    expect(await find({ DOCKER_CONTEXT: 'other' })).toEqual({ type: 'ssh', destination: 'me@build.example.org:2222' });
  });

  it('of a context is shown what the context keeps for it, and no certificate of the environment', async () => {
    await context('far', 'tcp://build.example.org:2376');
    await certificates(join(directory, 'contexts', 'tls', digestOf('far'), 'docker'));
    const address = await find({ DOCKER_CONTEXT: 'far', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/nowhere' });
    expect(address).toMatchObject({ type: 'tcp', host: 'build.example.org', port: 2376 });
    expect(Object.keys((address as { tls: object }).tls).sort()).toEqual(['ca', 'cert', 'directory', 'key']);
  });

  it('is verified by DOCKER_TLS_VERIFY, with the files of DOCKER_CERT_PATH or of the configuration', async () => {
    const at = await certificates(join(directory, 'own'));
    await certificates(directory);
    const asked = { DOCKER_HOST: 'tcp://10.0.0.7', DOCKER_TLS_VERIFY: '1' };
    expect(await find({ ...asked, DOCKER_CERT_PATH: at })).toMatchObject({ port: 2376, tls: { directory: at } });
    expect(await find(asked)).toMatchObject({ host: '10.0.0.7', tls: { directory } });
    expect(await find({ DOCKER_TLS_VERIFY: '1' })).toMatchObject({ host: 'localhost', port: 2376 });
    expect(await find({ ...asked, DOCKER_HOST: 'unix:///run/one.sock' })).toEqual({
      type: 'unix',
      path: '/run/one.sock',
    });
  });

  it('is what the login on that machine has, wherever that is', async () => {
    const there = { ...localHost(), name: 'build-box', environment: { DOCKER_HOST: 'unix:///run/there.sock' } };
    expect(await findDockerEngine('docker@build-box', there)).toEqual({ type: 'unix', path: '/run/there.sock' });
    const elsewhere = { ...there, environment: { DOCKER_HOST: 'tcp://10.0.0.7:2375' } };
    await expect(findDockerEngine('docker@build-box', elsewhere)).rejects.toMatchObject({
      details: { provider: 'docker@build-box' },
    });
  });

  it('of a machine over SSH is the socket that its login has, and never one of a third machine', async () => {
    const there = { ...localHost(), name: 'ssh://me@box:22', environment: { DOCKER_HOST: 'unix:///run/there.sock' } };
    expect(await findSocketThere('docker', there)).toBe('/run/there.sock');
    const further = { ...there, environment: { DOCKER_HOST: 'ssh://me@third' } };
    await expect(findSocketThere('docker', further)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { hint: expect.stringContaining('DOCKER_HOST=ssh://me@box:22/var/run/docker.sock') },
    });
  });

  it.each([
    ['on the network without TLS', { DOCKER_HOST: 'tcp://10.0.0.7:2375' }, /root there/],
    ['on the network, whose port alone is that of TLS', { DOCKER_HOST: 'build.example.org:2376' }, /without TLS/],
    ['with TLS that verifies nobody', { DOCKER_HOST: 'tcp://10.0.0.7', DOCKER_TLS: '1' }, /any server/],
    ['behind a pipe of Windows', { DOCKER_HOST: 'npipe:////./pipe/docker_engine' }, /pipe of Windows/],
    ['at a path that is not absolute', { DOCKER_HOST: 'unix://relative' }, /not absolute/],
    ['at what is no address', { DOCKER_HOST: 'http://x' }, /no address/],
  ])('%s is refused', async (_what, environment, message) => {
    await expect(find(environment)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(message),
      details: { hint: expect.stringMatching(/TLS/) },
    });
  });

  it('of a context that verifies nobody is refused', async () => {
    await context('lax', 'tcp://build.example.org:2376', { SkipTLSVerify: true });
    await expect(find({ DOCKER_CONTEXT: 'lax' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { hint: expect.stringContaining('docker context update') },
    });
  });

  it('is not looked for when its certificates are not there, or half of them', async () => {
    const asked = { DOCKER_HOST: 'tcp://10.0.0.7', DOCKER_TLS_VERIFY: '1' };
    await expect(find({ ...asked, DOCKER_CERT_PATH: '/nowhere' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('no ca.pem'),
    });
    const half = await certificates(join(directory, 'half'), ['ca', 'key']);
    await expect(find({ ...asked, DOCKER_CERT_PATH: half })).rejects.toMatchObject({
      message: expect.stringContaining('no cert.pem'),
    });
    const broken = join(directory, 'broken');
    await cp(await certificates(join(directory, 'whole')), broken, { recursive: true });
    await writeFile(join(broken, 'ca.pem'), 'no certificate');
    await expect(find({ ...asked, DOCKER_CERT_PATH: broken })).rejects.toMatchObject({
      message: expect.stringContaining('ca.pem is no certificate'),
    });
  });

  it('of a context that is in use and not there says which, and a broken configuration is passed over', async () => {
    await use('../../etc');
    await expect(find()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await writeFile(join(directory, 'config.json'), '{');
    const outcome = await find().catch((error: { code: string }) => error.code);
    expect(outcome === 'UNAVAILABLE' || (outcome as { type: string }).type === 'unix').toBe(true);
  });
});
