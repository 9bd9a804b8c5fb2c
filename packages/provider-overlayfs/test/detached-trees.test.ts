// Directories of the machine inside: their files, and nothing that lives in them.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected } from '@litterbox/conformance';
import { type Host, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { Fixture } from '@litterbox/testing';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { rewritingHost } from './rewritten.ts';

const CONNECT =
  'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, pack_sockaddr_un($ARGV[0])) ? "reached" : "$!"';

class ToolsFixture extends Fixture {
  /** A directory with a program, a socket on which this program listens, and what is told by both inside. */
  async told(change: (script: string) => string): Promise<{ readonly outside: string; readonly inside: string }> {
    const tools = await mkdtemp(join(tmpdir(), 'litterbox-tools-'));
    this.defer(() => rm(tools, { recursive: true, force: true }));
    await chmod(tools, 0o755);
    await mkdir(join(tools, 'deep dir'));
    const socket = join(tools, 'deep dir', 'so cket');
    const server = createServer((one) => one.end()).listen(socket);
    await once(server, 'listening');
    await chmod(socket, 0o777);
    this.defer(() => void server.close());
    await writeFile(join(tools, 'a-tool'), '#!/bin/sh\nprintf "tool, "\n', { mode: 0o755 });
    const local = localHost();
    const facts = await local.facts();
    const host: Host = {
      ...rewritingHost(local, change),
      facts: () => Promise.resolve({ ...facts, searchPath: [...facts.searchPath, tools] }),
    };
    const directory = await backendDirectory('copy');
    this.defer(() => removeBackend(directory));
    const provider = overlayfs({ host, facts: await host.facts(), directory, strategy: 'copy' });
    const id = SandboxId.make();
    const runtime = await provider.create(sandboxSpec(id, { allowDegraded: true }));
    this.defer(async () => {
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    });
    const outside = await collected(await local.spawn({ argv: ['perl', '-e', CONNECT, socket] }));
    const inside = await collected(
      await runtime.spawn({ argv: ['sh', '-c', 'a-tool; exec perl -e "$0" "$1"', CONNECT, socket] }),
    );
    return { outside: outside.stdout, inside: inside.stdout + inside.stderr };
  }
}

/** One layer alone is no overlay to the kernel. */
const withoutOverlay = (script: string) =>
  script.replaceAll('lowerdir=/run/absent:', 'lowerdir=').replaceAll(':/run/empty,', ',');

describe('a tool directory', () => {
  it('has the files of the machine and none of its sockets', async () => {
    await using fixture = new ToolsFixture();
    expect(await fixture.told((script) => script)).toEqual({
      outside: 'reached',
      inside: 'tool, Connection refused',
    });
  });

  it('has none where the kernel makes no overlay of it', async () => {
    await using fixture = new ToolsFixture();
    const told = await fixture.told(withoutOverlay);
    expect(told).toEqual({ outside: 'reached', inside: 'tool, Connection refused' });
  });

  it('starts no session where what lives in it cannot be hidden', async () => {
    await using fixture = new ToolsFixture();
    const told = fixture.told((script) => withoutOverlay(script).replaceAll('mount --bind /dev/null', 'false'));
    await expect(told).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('cannot hide what lives in directories of the machine: /run/tools/'),
    });
  });
});
