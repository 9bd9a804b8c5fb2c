import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;
const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { env: { ...process.env, PATH }, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

/** Where the test host keeps a file system that can share blocks: only there can a file be copied as it is at one moment. */
const REFLINKS = '/var/lib/litterbox-test/fs/xfs';

const CLOSED_MS = 30_000;

/** A small ext4 of its own in a file, mounted. Needs root. */
export class LoopImage implements Disposable {
  readonly #directory = mkdtempSync(join(existsSync(REFLINKS) ? REFLINKS : tmpdir(), 'litterbox-image-'));
  readonly #file = join(this.#directory, 'image');
  readonly mountPoint = join(this.#directory, 'at');

  constructor(megabytes: number, inodes?: number) {
    run('truncate', '-s', `${megabytes}M`, this.#file);
    run('mkfs.ext4', '-q', '-F', '-m', '0', ...(inodes === undefined ? [] : ['-N', String(inodes)]), this.#file);
    mkdirSync(this.mountPoint);
    this.#mount();
    chmodSync(this.mountPoint, 0o755);
  }

  #mount(): void {
    run('mount', '-o', 'loop', this.#file, this.mountPoint);
  }

  /** Takes every byte there is. */
  fill(): void {
    const file = openSync(join(this.mountPoint, 'filler'), 'a');
    try {
      for (let size = 2 ** 20; size >= 1; size = Math.floor(size / 4)) {
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** Takes every inode there is. */
  fillInodes(): void {
    mkdirSync(join(this.mountPoint, 'fillers'), { recursive: true });
    try {
      for (let count = 0; ; count++) closeSync(openSync(join(this.mountPoint, 'fillers', `f${count}`), 'w'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  /** Takes all but so many bytes. */
  leave(bytes: number): void {
    this.fill();
    const file = join(this.mountPoint, 'filler');
    truncateSync(file, statSync(file).size - bytes);
    this.sync(); // what was cut off is free once it is written
  }

  /** Takes all but so many inodes. */
  leaveInodes(count: number): void {
    this.fillInodes();
    const directory = join(this.mountPoint, 'fillers');
    for (const name of readdirSync(directory).slice(0, count)) rmSync(join(directory, name));
  }

  free(): void {
    rmSync(join(this.mountPoint, 'filler'), { force: true });
    rmSync(join(this.mountPoint, 'fillers'), { recursive: true, force: true });
  }

  /** Flushes all that was written so far. */
  sync(): void {
    run('sync', '-f', this.mountPoint);
  }

  /**
   * What a power cut would leave now: what only the kernel's cache holds is not in it. All of one moment: a copy made block by
   * block while something is written holds names of later than the contents, as no disk does.
   */
  photograph(): void {
    run('cp', '--reflink=always', this.#file, `${this.#file}.crash`);
  }

  /**
   * Goes on from the photograph, as after the power has come back. Waits until nobody uses the mount point: of what was killed the kernel lets go a
   * moment after the last process.
   */
  async restart(): Promise<void> {
    const deadline = Date.now() + CLOSED_MS;
    while (spawnSync('umount', [this.mountPoint], { env: { ...process.env, PATH } }).status !== 0) {
      if (Date.now() > deadline) throw new Error(`Somebody still uses ${this.mountPoint}.`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    run('mv', `${this.#file}.crash`, this.#file);
    this.#mount();
  }

  [Symbol.dispose](): void {
    run('umount', '--lazy', this.mountPoint); // a test that failed may have left something open
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
