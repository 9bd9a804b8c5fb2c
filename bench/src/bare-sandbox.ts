import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { spawned } from './processes.ts';

/** Mounts a copy-on-write view of a directory at `<directory>/merged`. */
export async function mountOverlay(lower: string, directory: string): Promise<void> {
  for (const part of ['upper', 'work', 'merged']) mkdirSync(`${directory}/${part}`, { recursive: true });
  const layers = `lowerdir=${lower},upperdir=${directory}/upper,workdir=${directory}/work`;
  await spawned('mount', '-t', 'overlay', 'overlay', '-o', layers, `${directory}/merged`);
}

export async function unmountOverlay(directory: string): Promise<void> {
  await spawned('umount', `${directory}/merged`);
  rmSync(directory, { recursive: true });
}

/** bubblewrap around a program that sees the machine read-only and the directory at /mnt. */
export function bubblewrap(directory: string, ...command: readonly string[]): readonly string[] {
  const machine = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
  const workspace = ['--bind', directory, '/mnt', '--chdir', '/mnt'];
  return ['bwrap', '--unshare-all', '--die-with-parent', ...machine, ...workspace, ...command];
}

/** A shell that is told one command after the other. */
export class HeldShell implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  #ends = 0;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stderr.resume();
  }

  static async start(argv: readonly string[]): Promise<HeldShell> {
    const [program = '', ...args] = argv;
    const shell = new HeldShell(spawn(program, args, { stdio: 'pipe' }));
    await shell.run(':');
    return shell;
  }

  /** Runs a command to its end; what it prints is thrown away. */
  async run(command: string): Promise<void> {
    const end = `\u001e${++this.#ends}\n`;
    const ended = new Promise<void>((resolve, reject) => {
      let tail = '';
      const read = (bytes: Buffer) => {
        tail = (tail + bytes.toString('latin1')).slice(-end.length);
        if (tail !== end) return;
        this.#child.stdout.off('data', read);
        this.#child.off('exit', reject);
        resolve();
      };
      this.#child.stdout.on('data', read);
      this.#child.once('exit', reject);
    });
    this.#child.stdin.write(`${command}\nprintf '\\036${this.#ends}\\n'\n`);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exited;
  }
}

/**
 * The floor of a sandbox: an overlay over the directory, bubblewrap around a shell, commands through it. Nothing is checked,
 * limited, recorded or cleared up after a crash.
 */
export class BareSandbox implements AsyncDisposable {
  readonly #directory: string;
  readonly #shell: HeldShell;

  private constructor(directory: string, shell: HeldShell) {
    this.#directory = directory;
    this.#shell = shell;
  }

  static async start(lower: string, directory: string): Promise<BareSandbox> {
    await mountOverlay(lower, directory);
    return new BareSandbox(directory, await HeldShell.start(bubblewrap(`${directory}/merged`, 'sh')));
  }

  async run(command: string): Promise<void> {
    await this.#shell.run(command);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shell[Symbol.asyncDispose]();
    await unmountOverlay(this.#directory);
  }
}
