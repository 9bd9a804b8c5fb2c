import { readFile } from 'node:fs/promises';
import { arch, homedir, machine, platform, release } from 'node:os';
import { type Host, type HostFacts } from '@litterbox/core/provider';
import { connectSocket } from './connect-socket.ts';
import { LocalFiles } from './local-files.ts';
import { LocalLoopback } from './local-loopback.ts';
import { localPipes } from './local-pipes.ts';
import { programDirectories } from './program-directories.ts';
import { repositoryTop } from './repository-top.ts';
import { spawnLocal } from './spawn-local.ts';

/** What to take instead of what this process has. */
export interface LocalHostOptions {
  /**
   * Absolute directories in which the programs that Litterbox itself starts are looked up, in order.
   *
   * @defaultValue the system's, and those that the variable `LITTERBOX_PROGRAMS` names; never those of PATH
   */
  readonly programs?: readonly string[];
  /** A path in the repository that is worked on: no program comes from there, and no sandbox sees it as a directory of tools. */
  readonly repository?: string;
}

/**
 * This machine. Does nothing until it is asked.
 *
 * Whatever starts a program there, or asks for its facts, fails with `CONFIG_UNTRUSTED` when `LITTERBOX_PROGRAMS` names a directory
 * that is not to be trusted.
 */
export function localHost(options: LocalHostOptions = {}): Host {
  let programs = options.programs;
  const findPrograms = () =>
    (programs ??= programDirectories({ besides: process.env['LITTERBOX_PROGRAMS'], repository: options.repository }));
  const environment = () => ({ PATH: findPrograms().join(':'), HOME: homedir(), LANG: 'C.UTF-8' });
  let facts: Promise<HostFacts> | undefined;
  return {
    name: 'local',
    environment: process.env,
    facts: async (call) => {
      call?.signal?.throwIfAborted();
      findPrograms();
      facts ??= readFacts(pathOf(process.env['PATH']), options.repository);
      return await facts;
    },
    spawn: async (spec, call) => await spawnLocal({ ...spec, env: spec.env ?? environment() }, call),
    files: new LocalFiles(),
    pipes: localPipes,
    connect: connectSocket,
    loopback: (namespace) => new LocalLoopback(namespace, findPrograms()),
    async [Symbol.asyncDispose]() {},
  };
}

/** Tells which directories of tools a sandbox sees. Empty and relative entries mean the current directory, which says nothing. */
function pathOf(path: string | undefined): readonly string[] {
  const directories = (path ?? '').split(':').filter((directory) => directory.startsWith('/'));
  return directories.length > 0 ? directories : ['/usr/local/bin', '/usr/bin', '/bin'];
}

async function readFacts(searchPath: readonly string[], repository: string | undefined): Promise<HostFacts> {
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown');
  return {
    platform: platform(),
    architecture: platform() === 'linux' ? machine() : arch(),
    kernelRelease: release(),
    uid: process.getuid?.() ?? -1,
    gid: process.getgid?.() ?? -1,
    homeDirectory: homedir(),
    searchPath,
    ...(repository !== undefined && { repositoryTop: repositoryTop(repository) }),
    bootId: bootId.trim(),
  };
}
