import type { ExecChannel } from '../channel/exec-channel.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import { decodeRaw } from '../domain/text/raw-text.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import { residentFiles } from './resident-files.ts';

/** Names given to one `tar`, in number and in characters: well below what Linux takes as arguments. */
const BATCH_NAMES = 1000;
const BATCH_CHARACTERS = 100_000;
/**
 * Files with several names as files each, a path that has become a directory without what is in it, and names to the letter: GNU's tar
 * takes a backslash in an argument for the start of an escape. Other tars have no such options: there, every file gets an archive of its
 * own, in which no other name of it can be referred to.
 */
const GNU_FLAGS = ['--hard-dereference', '--no-recursion', '--no-unquote'] as const;
/** Without a byte for so long, tar hangs: an agent's programs run beside it as the same user, and may stop it. */
const MAX_SILENCE_MS = 30_000;
/** Each file of a batch is packed once more. */
const MAX_EXPLANATION_MS = 300_000;
const TAR_VARIABLES = { TAR_OPTIONS: '', LC_ALL: 'C' };
/** An archive of files that grew meanwhile may be larger than they were. */
const MAX_SMALL_ARCHIVE_BYTES = 4 * 2 ** 20;

/**
 * After tar has failed: prints which of the arguments it cannot pack, each ended by NUL. Succeeds when they, or those that are gone,
 * explain the failure. What vanished meanwhile is no failure: its directory changed too and is looked at again. A device that everybody may
 * pack tells whether it is tar itself that fails.
 *
 * GNU's tar reads no file when its output is no pipe but `/dev/null`.
 */
const explainScript = (flags: readonly string[], mostCode: number) => `pack() {
  { { tar ${flags.join(' ')} -cf - "$@" 2>/dev/null; echo $? >&3; } | cat >/dev/null; } 3>&1
}
[ "$(pack -C /dev -- null)" = 0 ] || exit 1
code=1
for f do
  if [ -e "$f" ] || [ -h "$f" ]; then
    packed=$(pack -- "$f")
    [ "\${packed:-2}" -gt ${mostCode} ] || continue
    printf '%s\\0' "$f"
  fi
  code=0
done
exit $code`;

/** Asked once for each opened sandbox: a runtime's programs are read-only. */
const gnuTars = new WeakMap<ExecChannel, boolean>();

async function hasGnuTar(channel: ExecChannel, options?: CallOptions): Promise<boolean> {
  const known = gnuTars.get(channel);
  if (known !== undefined) return known;
  const { exit, interruption } = await channel.run(
    { argv: ['tar', ...GNU_FLAGS, '--version'], maxOutputBytes: 4096, timeoutMs: MAX_SILENCE_MS },
    options,
  );
  if (interruption === 'timeout') throw heldUp();
  gnuTars.set(channel, exit.code === 0);
  return exit.code === 0;
}

/** The sandbox that is read, and what its `tar` can do. */
interface Packer {
  readonly runtime: SandboxRuntime;
  readonly channel: ExecChannel;
  readonly flags: readonly string[];
  /** The highest exit code that is no failure. */
  readonly mostCode: number;
  readonly options: CallOptions | undefined;
}

/**
 * The content of files of the workspace as tar, made by `tar` inside the sandbox, one archive after another in one stream.
 * Held back when the reader is slow, so that any amount passes through bounded memory.
 *
 * @param isSmall whether all of it fits into memory easily: then it comes through the channel, which is ten times faster
 * @param onUnreadable told the paths that tar cannot pack: mostly, their permissions keep even their owner from reading them
 */
export function readContents(
  { runtime, channel }: { readonly runtime: SandboxRuntime; readonly channel: ExecChannel },
  paths: AsyncIterable<string>,
  isSmall: () => boolean,
  onUnreadable: (path: string) => void,
  options?: CallOptions,
): ReadableStream<Uint8Array> {
  const chunks = archives();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );

  async function* archives(): AsyncGenerator<Uint8Array, undefined, undefined> {
    const isGnuTar = await hasGnuTar(channel, options);
    // GNU's 1: a file changed while it was read, and will be reported again. Others have no code of its own for that.
    const tar = isGnuTar ? { flags: GNU_FLAGS, mostCode: 1 } : { flags: [], mostCode: 0 };
    const packer: Packer = { runtime, channel, options, ...tar };
    for await (const batch of batches(paths, isGnuTar ? BATCH_NAMES : 1)) {
      const code = yield* pack(packer, batch, isSmall());
      if (code > tar.mostCode) for (const path of await unreadable(packer, batch, code)) onUnreadable(path);
    }
    return undefined;
  }
}

/** One archive. @returns the exit code of tar */
async function* pack(
  packer: Packer,
  batch: readonly string[],
  isSmall: boolean,
): AsyncGenerator<Uint8Array, number, undefined> {
  const { runtime, flags, options } = packer;
  // `--`: no name is an option.
  const argv = ['tar', ...flags, '-cf', '-', '--', ...batch] as const;
  const small = isSmall ? await packSmall(packer, argv, batch) : undefined;
  if (small) {
    yield small.bytes;
    return small.code;
  }
  await using tar = await runtime.spawn({ argv, env: { ...runtime.environment, ...TAR_VARIABLES } }, options);
  const output = tar[Symbol.asyncIterator]();
  for (;;) {
    const next = await withinSilence(output.next());
    if (next.done) break;
    if (next.value.type === 'stdout-data') yield next.value.bytes;
  }
  return (await withinSilence(tar.exit)).code;
}

/** Undefined when it was larger than expected after all, or ended early. */
async function packSmall(
  { runtime, channel, options }: Packer,
  argv: readonly [string, ...string[]],
  batch: readonly string[],
): Promise<{ readonly bytes: Uint8Array; readonly code: number } | undefined> {
  const packed = await residentFiles(runtime).archive(batch);
  options?.signal?.throwIfAborted();
  if (packed) return { bytes: packed, code: 0 };
  const { exit, stdout, interruption } = await channel.run(
    {
      argv,
      env: TAR_VARIABLES,
      cwd: runtime.workdir,
      maxOutputBytes: MAX_SMALL_ARCHIVE_BYTES,
      isRaw: true,
      timeoutMs: MAX_SILENCE_MS,
    },
    options,
  );
  options?.signal?.throwIfAborted();
  return stdout.droppedBytes === 0 && !interruption ? { bytes: stdout.bytes, code: exit.code } : undefined;
}

/** Those of the files that tar could not pack. @throws LitterboxError `SNAPSHOT_FAILED` where they do not explain its failure. */
async function unreadable(
  { runtime, channel, flags, mostCode, options }: Packer,
  batch: readonly string[],
  code: number,
): Promise<readonly string[]> {
  const { exit, stdout, interruption } = await channel.run(
    {
      argv: ['sh', '-c', explainScript(flags, mostCode), 'sh', ...batch.map((path) => `./${path}`)],
      env: TAR_VARIABLES,
      cwd: runtime.workdir,
      isRaw: true,
      timeoutMs: MAX_EXPLANATION_MS,
    },
    options,
  );
  if (interruption === 'timeout') throw heldUp(MAX_EXPLANATION_MS);
  if (exit.code !== 0) {
    throw new LitterboxError('SNAPSHOT_FAILED', `tar failed in the sandbox with exit code ${code}.`, {
      operation: 'sandbox.record',
      hint: 'Run any command again: what changed is still there and is recorded then. If the limit of processes is reached, end some first.',
    });
  }
  const names = decodeRaw(stdout.bytes).split('\0');
  return names.filter((path) => path !== '').map((path) => path.slice(2));
}

function heldUp(afterMs = MAX_SILENCE_MS): LitterboxError {
  const seconds = afterMs / 1000;
  return new LitterboxError(
    'SNAPSHOT_FAILED',
    `tar printed nothing for ${seconds} s in the sandbox, so Litterbox stopped it.`,
    {
      operation: 'sandbox.record',
      hint: 'Something in the sandbox holds it up: end that, and run any command again. What changed is still there and is recorded then.',
    },
  );
}

/** @throws LitterboxError `SNAPSHOT_FAILED` when nothing came for too long. */
async function withinSilence<Result>(waited: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(heldUp()), MAX_SILENCE_MS);
  });
  try {
    return await Promise.race([waited, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function* batches(
  paths: AsyncIterable<string>,
  names: number,
): AsyncGenerator<readonly string[], void, undefined> {
  let batch: string[] = [];
  let characters = 0;
  for await (const path of paths) {
    if (batch.length === names || characters + path.length > BATCH_CHARACTERS) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(path);
    characters += path.length;
  }
  if (batch.length > 0) yield batch;
}
