import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export interface DockerEngine extends AsyncDisposable {
  readonly socket: string;
  /** What the engine has: BusyBox, and the Node that runs the bench. */
  readonly image: string;
}

const IMAGE = 'busybox:latest';
const START_MS = 30_000;
const POLL_MS = 50;

/** An engine of the run's own, on its file system and in a network of its own; otherwise why not. */
export async function startDocker(ground: string): Promise<DockerEngine | string> {
  const program = ['/usr/sbin/dockerd', '/usr/bin/dockerd'].find((path) => existsSync(path));
  if (!program) return 'there is no dockerd on this machine';
  if (!existsSync('/bin/busybox')) return 'there is no static BusyBox on this machine to make an image of';
  const directory = join(ground, 'docker');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const socket = join(directory, 'socket');
  writeFileSync(join(directory, 'config.json'), '{}');
  const places = ['--data-root', join(directory, 'data'), '--exec-root', join(directory, 'exec')];
  const quiet = ['--bridge', 'none', '--iptables=false', '--ip6tables=false', '--log-level', 'error'];
  const own = [
    '--config-file',
    join(directory, 'config.json'),
    '--pidfile',
    join(directory, 'pid'),
    '-H',
    `unix://${socket}`,
  ];
  const child = spawn('unshare', ['--net', program, ...own, ...places, ...quiet], { stdio: 'ignore' });
  const docker = (...args: readonly string[]) =>
    execFileSync('/usr/bin/docker', ['-H', `unix://${socket}`, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const began = performance.now();
  for (;;) {
    try {
      docker('version');
      break;
    } catch {
      if (performance.now() - began > START_MS || child.exitCode !== null) return 'dockerd did not start';
      await setTimeout(POLL_MS);
    }
  }
  const root = join(directory, 'root');
  for (const name of ['bin', 'tmp', 'etc']) mkdirSync(join(root, name), { recursive: true });
  execFileSync('cp', ['/bin/busybox', join(root, 'bin/busybox')]);
  for (const name of execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n'))
    if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', name));
  execFileSync('chmod', ['1777', join(root, 'tmp')]);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  execFileSync('cp', [process.execPath, join(root, 'usr/bin/node')]);
  for (const [, path = ''] of execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g))
    execFileSync('cp', ['--dereference', '--parents', path, root]);
  execFileSync('tar', ['-c', '-f', join(directory, 'image.tar'), '-C', root, '.']);
  docker('import', join(directory, 'image.tar'), IMAGE);
  return {
    socket,
    image: IMAGE,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}
