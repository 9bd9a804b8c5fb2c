import { readFile } from 'node:fs/promises';
import { arch, homedir, machine, platform, release } from 'node:os';
import type { Host, HostFacts } from '@litterbox/core/provider';
import { connectSocket } from './connect-socket.ts';
import { LocalFiles } from './local-files.ts';
import { LocalLoopback } from './local-loopback.ts';
import { spawnLocal } from './spawn-local.ts';

/** What to take instead of what this process has. */
export interface LocalHostOptions {
  /** Where programs are looked up. @defaultValue the directories of this process's own PATH */
  readonly searchPath?: readonly string[];
}

/** This machine. Does nothing until it is asked. */
export function localHost(options: LocalHostOptions = {}): Host {
  const searchPath = options.searchPath ?? pathOf(process.env['PATH']);
  const environment = { PATH: searchPath.join(':'), HOME: homedir(), LANG: 'C.UTF-8' };
  let facts: Promise<HostFacts> | undefined;
  return {
    name: 'local',
    isRoot: process.getuid?.() === 0,
    facts: async (call) => {
      call?.signal?.throwIfAborted();
      facts ??= readFacts(searchPath);
      return await facts;
    },
    spawn: (spec, call) => spawnLocal({ ...spec, env: spec.env ?? environment }, call),
    files: new LocalFiles(),
    connect: connectSocket,
    loopback: (namespace) => new LocalLoopback(namespace, searchPath),
    async [Symbol.asyncDispose]() {},
  };
}

/** Empty and relative entries of PATH mean the current directory, which no program of ours may come from. */
function pathOf(path: string | undefined): readonly string[] {
  const directories = (path ?? '').split(':').filter((directory) => directory.startsWith('/'));
  return directories.length > 0 ? directories : ['/usr/local/bin', '/usr/bin', '/bin'];
}

async function readFacts(searchPath: readonly string[]): Promise<HostFacts> {
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown');
  return {
    platform: platform(),
    architecture: platform() === 'linux' ? machine() : arch(),
    kernelRelease: release(),
    uid: process.getuid?.() ?? -1,
    gid: process.getgid?.() ?? -1,
    homeDirectory: homedir(),
    searchPath,
    bootId: bootId.trim(),
  };
}
