import { readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import type { SandboxRuntime, SandboxSpec } from '@litterbox/core/provider';
import Client from 'dockerode';
import { absence, TEST_SOCKET } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

const engine = new Client({ socketPath: TEST_SOCKET });
const suite = await forBackend('docker', { describe, it }, absence);

async function expectGolden(name: string, changes: Partial<SandboxSpec>): Promise<void> {
  const golden = new URL(`golden/${name}.json`, import.meta.url);
  await using sandboxes = await Sandboxes.open();
  const runtime = await sandboxes.create(changes);
  const [found] = await engine.listContainers({ all: true, filters: { label: [`dev.litterbox.id=${runtime.id}`] } });
  const { HostConfig, Config, Mounts, NetworkSettings } = await engine.getContainer(found?.Id ?? '').inspect();
  const { Hostname, Image: _image, ...config } = Config;
  const told = JSON.stringify(
    {
      HostConfig: { ...HostConfig, SecurityOpt: HostConfig.SecurityOpt?.map((text: string) => text.slice(0, 24)) },
      Config: { ...config, Hostname },
      Mounts: Mounts.map(({ Type, Destination, RW, Propagation }) => ({ Type, Destination, RW, Propagation })).sort(
        (a, b) => a.Destination.localeCompare(b.Destination),
      ),
      Networks: Object.keys(NetworkSettings.Networks),
    },
    null,
    2,
  )
    .replaceAll(runtime.id, 'ID')
    .replaceAll(sandboxes.directory, 'DIRECTORY')
    .replace(/"CpusetCpus": "[\d,]+"/, '"CpusetCpus": "PROCESSORS"');
  if (process.env['LITTERBOX_WRITE_GOLDEN']) await writeFile(golden, `${told}\n`);
  expect(JSON.parse(told)).toEqual(JSON.parse(await readFile(golden, 'utf8')));
}

suite.describe('a container of a sandbox', () => {
  suite.it('is exactly what the golden file says, every field of it (A61)', async () => {
    await expectGolden('container', {});
  });

  suite.it('in which something is installed is exactly what its golden file says', async () => {
    await expectGolden('installer', { isInstaller: true });
  });

  suite.it('has the sockets, terminals and timers that programs need, and no others (A46)', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create({ root: { type: 'image', reference: 'debian:bookworm' } });
    /** System calls of x86-64, and what the kernel says of them. */
    const calls = {
      unix: ['ok', 41, 1, 1, 0],
      pair: ['ok', 53, 1, 1, 0, '$zeros'],
      'pair of virtual machines': ['Operation not permitted', 53, 40, 1, 0, '$zeros'],
      tcp: ['ok', 41, 2, 1, 6],
      udp: ['ok', 41, 10, 2, 0],
      multipath: ['Protocol not supported', 41, 2, 1, 262],
      lite: ['Protocol not supported', 41, 2, 2, 136],
      routes: ['ok', 41, 16, 3, 0],
      'list of sockets': ['ok', 41, 16, 3, 4],
      transformations: ['Protocol not supported', 41, 16, 3, 6],
      audit: ['Protocol not supported', 41, 16, 3, 9],
      packets: ['Operation not permitted', 41, 17, 3, 0],
      'line discipline': ['Operation not permitted', 16, 0, 0x5423, '$zeros'],
      'the same with bits that are cut off': ['Operation not permitted', 16, 0, 2 ** 32 + 0x5423, '$zeros'],
      typing: ['Operation not permitted', 16, 0, 0x5412, '$zeros'],
      'a subvolume': ['Operation not permitted', 16, 0, 0x5000940e, '$zeros'],
      'sharing blocks': ['Bad file descriptor', 16, 0, 0x40049409, -1],
      'size of a terminal': ['Inappropriate ioctl for device', 16, 0, 0x5413, '$zeros'],
      lease: ['Operation not permitted', 72, 0, 1024, 0],
      'a lease with bits that are cut off': ['Operation not permitted', 72, 0, 2 ** 32 + 1024, 0],
      'notice of what is used': ['Operation not permitted', 72, 0, 1026, 0],
      'flags of a descriptor': ['ok', 72, 0, 1, 0],
      'its limit of core files': ['ok', 302, 0, 4, 0, '$limit'],
      'another limit of core files': ['ok', 302, 0, 4, '$zeros', 0],
      'the same in the old way': ['ok', 160, 4, '$zeros'],
      'the same with other bits that are cut off': ['ok', 302, 0, 2 ** 32 + 4, '$zeros', 0],
      'the limit as it was': ['ok', 302, 0, 4, 0, '$after'],
      asynchronous: ['Function not implemented', 206, 1, '$zeros'],
      'old segments': ['Operation not permitted', 154, 0, '$zeros', 4096],
    } as const;
    const lines = Object.entries(calls).map(
      ([name, [, ...args]]) => `print "${name}: ", (syscall(${args.join(', ')}) == -1 ? $! : 'ok'), "\\n";`,
    );
    const script = `our ($zeros, $limit, $after) = ("\\0" x 4096, "\\0" x 16, "\\0" x 16); ${lines.join(' ')} my $n = 0; $n++ while $n < 5000 && syscall(222, 1, 0, my $id = "\\0" x 8) == 0; print join(' ', unpack('Q2', $limit), unpack('Q2', $after)), "\\n$n"`;
    const { stdout } = await collected(await runtime.spawn({ argv: ['perl', '-e', script] }));
    const told = stdout.split('\n');
    expect(told.slice(0, -1)).toEqual([
      ...Object.entries(calls).map(([name, [answer]]) => `${name}: ${answer}`),
      '1 1 1 1',
    ]);
    expect(Number(told.at(-1))).toBeLessThanOrEqual(1024);
  });

  suite.it('reaches no engine, and has nothing of its environment (A65)', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    const script =
      'ls -d /var/run/docker.sock /run/docker.sock /run/podman /run/containerd /var/lib/docker 2>/dev/null; env | grep -i -E "docker_|container_host|_proxy"; grep -c . /proc/net/unix';
    const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
    // The header of the kernel's own table is all there is: no socket of the host's shows in it.
    expect(stdout.trim()).toBe('1');
  });
});

/** An image made of another one, with settings that would take a sandbox over if they were taken over. */
async function derived(changes: object, script = 'true'): Promise<string> {
  const container = await engine.createContainer({ Image: 'busybox:latest', Cmd: ['sh', '-c', script] });
  try {
    await container.start();
    await container.wait();
    const tag = crypto.randomUUID();
    await engine.getContainer(container.id).commit({ repo: 'litterbox-test/derived', tag, ...changes });
    return `litterbox-test/derived:${tag}`;
  } finally {
    await container.remove({ force: true, v: true });
  }
}

/** What an image's declarations make. Others use the engine too: the tests' volumes have names. */
async function namelessVolumes(): Promise<readonly string[]> {
  const { Volumes } = await engine.listVolumes();
  return Volumes.map(({ Name }) => Name).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

suite.describe('an image', () => {
  suite.it(
    'with entrypoint, health check, volumes, a user and a hostile environment gives no orders (A62)',
    async () => {
      const image = await derived({
        Entrypoint: ['/bin/touch', '/src/entrypoint-ran'],
        Cmd: ['/bin/touch', '/src/command-ran'],
        User: '0:0',
        WorkingDir: '/proc/self/fd/8',
        Volumes: { '/src': {}, '/data': {} },
        Healthcheck: { Test: ['CMD', '/bin/touch', '/src/health-ran'], Interval: 1_000_000_000 },
        Env: [
          'LD_PRELOAD=/evil.so',
          'BASH_ENV=/evil',
          'ENV=/evil',
          'GIT_SSH_COMMAND=touch /src/git-ran',
          'PROMPT_COMMAND=touch /src/prompt-ran',
          'HARMLESS=kept',
          'PATH=relative:/bin',
        ],
      });
      const before = await namelessVolumes();
      try {
        await using sandboxes = await Sandboxes.open();
        const runtime = await sandboxes.create({ root: { type: 'image', reference: image } });
        const { stdout } = await collected(
          await runtime.spawn({
            argv: ['sh', '-c', 'env; ls /src; id -u; touch /data/x && echo data; readlink /proc/1/cwd'],
          }),
        );
        expect(stdout).toContain('HARMLESS=kept');
        expect(stdout).not.toMatch(/evil|GIT_SSH|PROMPT_COMMAND|relative|-ran/);
        expect(stdout).toContain('README\n');
        expect(stdout).toContain('\ndata\n');
        expect(stdout.trim().endsWith('\n/')).toBe(true);
        // The workspace is one of ours; of the image's there are none, in the container or left over.
        const { Mounts } = await engine.getContainer(`litterbox-test-${runtime.id.slice(0, 8)}`).inspect();
        expect(new Set(Mounts.flatMap(({ Type, Name }) => (Type === 'volume' ? [Name] : [])))).toEqual(
          new Set([`litterbox-${runtime.id}`]),
        );
        expect(stdout).toMatch(new RegExp(`^${process.getuid?.() === 0 ? 61100 : process.getuid?.()}$`, 'm'));
      } finally {
        await engine.getImage(image).remove({ force: true });
      }
      expect((await namelessVolumes()).filter((name) => !before.includes(name))).toEqual([]);
    },
  );

  suite.it("AX127: whose PATH begins in the workspace does not have an agent's files as programs of ours", async () => {
    const PATH = '/src/bin:/tmp/evil:/bin/../src/bin:/home/agent/bin:/usr/bin:/bin';
    const image = await derived({ Env: [`PATH=${PATH}`] });
    const run = async (runtime: SandboxRuntime, script: string) =>
      (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;
    try {
      await using sandboxes = await Sandboxes.open();
      const runtime = await sandboxes.create({ root: { type: 'image', reference: image } });
      const fake = '#!/bin/sh\necho fake >>/src/log\nexec /bin/busybox "${0##*/}" "$@"\n';
      const names = 'sh setsid tar find stat cat env';
      await run(
        runtime,
        `mkdir -p bin ~/bin /tmp/evil; for at in bin ~/bin /tmp/evil; do for name in ${names}; do printf '%s' '${fake}' >$at/$name; chmod 755 $at/$name; done; done`,
      );
      await runtime.stop();
      await runtime.start();
      const mark = await runtime.mark();
      expect(await run(runtime, 'echo x >new; cat new; ls log 2>/dev/null; echo $PATH')).toMatch(
        /^x\n\/usr\/bin:\/bin:\/src\/bin:\/tmp\/evil:/,
      );
      for await (const _change of (await runtime.scan(mark)).changes);
      expect(await run(runtime, 'ls log 2>/dev/null')).toBe('');
      expect(await run(runtime, '/src/bin/sh -c "ls log"')).toBe('log\n'); // positive control
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });

  suite.it('AX131: whose links keep the workspace from its place is refused, and nothing is left', async () => {
    const cases: readonly [script: string, message: string, workdir: string, changes?: object][] = [
      ['ln -s /etc /src', 'at /src or above it: the workspace would be at /etc', '/src'],
      ['mkdir /a; ln -s /a /b', 'at /b/c or above it: the workspace would be at /a/c', '/b/c'],
      ['rm -r /tmp; ln -s /src /tmp', 'by which a tmpfs is mounted over the workspace at /src', '/src'],
      [
        'ln -s /src /data',
        'by which a tmpfs is mounted over the workspace at /src',
        '/src',
        { Volumes: { '/data': {} } },
      ],
    ];
    for (const [script, message, workdir, changes = {}] of cases) {
      const image = await derived(changes, script);
      try {
        await using sandboxes = await Sandboxes.open();
        const made = sandboxes.create({ root: { type: 'image', reference: image }, workdir, allowDegraded: true });
        await expect(made).rejects.toMatchObject({
          code: 'UNSUPPORTED',
          message: `The image "${image}" has a symbolic link ${message}.`,
          details: { hint: expect.stringContaining('container.base-image') },
        });
        expect(await engine.listContainers({ all: true, filters: { ancestor: [image] } })).toEqual([]);
        expect(await readdir(`${sandboxes.directory}/docker/sandboxes`)).toEqual([]);
      } finally {
        await engine.getImage(image).remove({ force: true });
      }
    }
  });

  suite.it('of user 501:20 works, as our own user', async () => {
    const image = await derived({ User: '501:20' });
    try {
      await using sandboxes = await Sandboxes.open();
      const runtime = await sandboxes.create({ root: { type: 'image', reference: image } });
      const { stdout } = await collected(
        await runtime.spawn({
          argv: [
            'sh',
            '-c',
            'echo x >new && cat new README && touch ~/y /tmp/z /var/tmp/z /dev/shm/z && id -u && id -un && id -gn && cat /etc/hosts',
          ],
        }),
      );
      expect(stdout).toBe(
        `x\nread me\n${process.getuid?.() === 0 ? 61100 : process.getuid?.()}\nagent\nagent\n127.0.0.1 localhost sandbox\n::1 localhost sandbox ip6-localhost ip6-loopback\n`,
      );
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });

  suite.it('without a shell is refused, with what to do', async () => {
    const container = await engine.createContainer({ Image: 'busybox:latest', Cmd: ['rm', '-rf', '/bin/sh'] });
    await container.start();
    await container.wait();
    const tag = crypto.randomUUID();
    await container.commit({ repo: 'litterbox-test/shellless', tag });
    await container.remove({ force: true });
    const image = `litterbox-test/shellless:${tag}`;
    try {
      await using sandboxes = await Sandboxes.open();
      await expect(sandboxes.create({ root: { type: 'image', reference: image } })).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringContaining('has no /bin/sh'),
        details: { hint: expect.stringContaining('container.base-image') },
      });
      const left = await engine.listContainers({ all: true, filters: { ancestor: [image] } });
      expect(left).toEqual([]);
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });
});
