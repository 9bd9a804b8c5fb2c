import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { LitterboxError } from 'litterbox';
import type { Hands } from '../src/hands.ts';
import { claudeSeat } from '../src/seats/claude.ts';
import type { OpenedSeat } from '../src/seats/seat.ts';

type Attach = NonNullable<Parameters<Hands['attach']>[0]>;
type Attached = Awaited<ReturnType<Hands['attach']>>;

/** What Claude Code 2.1.328 hands to its shell. */
export function bashText(word: string, note: string): string {
  const unalias = String.raw`{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true`;
  return `source /home/me/.claude/shell-snapshots/snapshot-bash-1795806477422-i87ufk.sh 2>/dev/null || true && ${unalias} && eval ${word} < /dev/null && pwd -P >| ${note}`;
}

/** A seat of Claude's on a sandbox that is a directory of its own, `/tmp` as well, in which programs really run. */
export class ClaudeFixture implements AsyncDisposable {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'litterbox-claude-')));
  readonly root = join(this.directory, 'host');
  readonly workdir = join(this.directory, 'inside');
  readonly tmp = join(this.directory, 'tmp');
  readonly note = `/tmp/claude-${crypto.randomUUID()}-cwd`;
  readonly attached: Attach[] = [];
  /** Of each program inside, once it is recorded. */
  readonly codes: number[] = [];
  readonly #relays = new Set<ChildProcess>();
  #news = Promise.withResolvers<void>();
  #opened: OpenedSeat | undefined;

  constructor() {
    for (const path of [this.root, this.workdir, this.tmp]) mkdirSync(path);
  }

  async seated({ hasTools = true } = {}): Promise<OpenedSeat> {
    const tools = [process.execPath, '-e', 'console.log("tools", process.argv[1])', "it's"] as const;
    const place = { hands: this.#hands(), root: this.root, shell: '/bin/sh' };
    this.#opened = await claudeSeat.open(hasTools ? { ...place, tools } : place);
    return this.#opened;
  }

  get prefix(): string {
    return this.#opened?.environment['CLAUDE_CODE_SHELL_PREFIX'] ?? '';
  }

  /** A file of the seat. */
  own(name: string): string {
    return this.prefix.replace(/[^/]*$/, name);
  }

  /** Names in the `/tmp` inside that are Claude's. */
  notes(): readonly string[] {
    return readdirSync(this.tmp).map((name) => `/tmp/${name}`);
  }

  /** Starts the prefix as Claude does. */
  start(argument: string, cwd = this.root): ChildProcess {
    const relay = spawn(this.prefix, [argument], { cwd, env: { ...process.env, ANTHROPIC_API_KEY: 'secret' } });
    this.#relays.add(relay);
    return relay;
  }

  async ran(
    argument: string,
    { cwd = this.root, input = '' }: { readonly cwd?: string; readonly input?: string } = {},
  ) {
    const relay = this.start(argument, cwd);
    relay.stdin?.end(input);
    const [[code], output, error] = await Promise.all([
      once(relay, 'close') as Promise<[number | null]>,
      relay.stdout ? text(relay.stdout) : '',
      relay.stderr ? text(relay.stderr) : '',
    ]);
    return { code, output, error };
  }

  /** Waits until so many programs inside have ended. */
  async ended(count: number): Promise<void> {
    while (this.codes.length < count) await this.#news.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    for (const relay of this.#relays) relay.kill('SIGKILL');
    rmSync(this.note, { force: true });
    rmSync(this.directory, { recursive: true, force: true });
  }

  #inside(path: string): string {
    if (path.startsWith('/tmp/claude-')) return `${this.tmp}${path.slice('/tmp'.length)}`;
    return path.startsWith('/') ? path : join(this.workdir, path);
  }

  #hands(): Hands {
    const unused = async () => {
      throw new Error('unused');
    };
    const found = (path: string) => {
      const entry = lstatSync(this.#inside(path), { throwIfNoEntry: false });
      if (entry) return entry;
      throw new LitterboxError('NOT_FOUND', `${path} does not exist.`, { operation: 'test' });
    };
    return {
      name: 'one',
      record: { id: 'one', workdir: this.workdir } as unknown as Hands['record'],
      attach: async (input = {}) => await this.#attach(input),
      files: {
        async stat(path) {
          const entry = found(path);
          const type = entry.isDirectory() ? 'directory' : 'file';
          return { type, sizeBytes: entry.size, isLink: entry.isSymbolicLink(), modifiedMs: 0 };
        },
        read: async (path) => {
          if (!found(path).isFile())
            throw new LitterboxError('NOT_A_REGULAR_FILE', 'It is none.', { operation: 'test' });
          return readFileSync(this.#inside(path));
        },
        list: unused,
        write: unused,
        mkdir: unused,
        remove: unused,
        copy: unused,
      },
    };
  }

  async #attach(input: Attach): Promise<Attached> {
    this.attached.push(input);
    const { command, cwd = '.', env = {}, mergeOutput } = input;
    if (typeof command !== 'object') throw new Error('not a program and its arguments');
    const [program = '', ...args] = command.map((word) => word.replaceAll('/tmp/claude-', `${this.tmp}/claude-`));
    const child = spawn(program, args, {
      cwd: this.#inside(cwd),
      env: { PATH: process.env['PATH'], ...env },
      detached: true,
      stdio: ['pipe', 'pipe', mergeOutput ? 'ignore' : 'pipe'],
    });
    await once(child, 'spawn');
    const exit = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => ({
      code:
        typeof code === 'number'
          ? code
          : 128 + constants.signals[(signal ?? 'SIGKILL') as keyof typeof constants.signals],
    }));
    const { stdin, stdout } = child;
    const stderr = child.stderr?.pipe(new PassThrough()); // what nobody reads yet goes with the child
    stdin?.on('error', () => {}); // it ended before
    const killed = async () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // nothing is left
      }
      await exit;
    };
    return {
      timeoutMs: 0,
      process: {
        exit,
        write: async (bytes) => {
          if (stdin?.write(bytes) === false) await Promise.race([once(stdin, 'drain'), exit]);
        },
        closeStdin: async () => void stdin?.end(),
        kill: async (signal) => void child.kill(signal),
        async *[Symbol.asyncIterator]() {
          for await (const bytes of stdout ?? []) yield { type: 'stdout-data' as const, bytes: bytes as Uint8Array };
          for await (const bytes of stderr ?? []) yield { type: 'stderr-data' as const, bytes: bytes as Uint8Array };
        },
        [Symbol.asyncDispose]: killed,
      },
      finish: async ({ code }) => {
        this.codes.push(code);
        this.#news.resolve();
        this.#news = Promise.withResolvers();
        return { hints: [] } as unknown as Awaited<ReturnType<Attached['finish']>>;
      },
      [Symbol.asyncDispose]: killed,
    };
  }
}
