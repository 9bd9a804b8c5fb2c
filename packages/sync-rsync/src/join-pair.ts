import { decodeRaw, type Host, type HostDirectory, LitterboxError, type ProcessHandle } from '@litterbox/core/provider';

/** More words, or longer ones, no rsync says before it begins to talk. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_FAR_SAID = 4096;
/** A side that is told to end removes what is half-written; one that takes longer is killed. */
const LAST_WORDS_MS = 2_000;

/**
 * The receiver works in the directory, whose name it never hears: in the name of a target it would take `*`, `?` and `[` for a
 * pattern, and write into (and delete from) whatever matches. What `ls` says names the reason, which not every shell does.
 */
const INSIDE = 'cd "$1" || { ls -d "$1/."; exit 3; } >&2; shift; exec "$@"';

/** How the sender ended, and the newest of what the receiver said. */
export interface PairOutcome {
  readonly code: number;
  readonly farSaid: string;
}

/**
 * Runs the sender on one host and, on the other, the receiver that it asks for, and carries bytes between them until both end.
 *
 * @param far where the receiver works, an absolute path
 * @param onStderr gets what the sender says beside the connection
 */
export async function joinPair(
  near: Host,
  far: HostDirectory,
  argv: readonly [string, ...string[]],
  onStderr: (bytes: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<PairOutcome> {
  const sender = await near.spawn({ argv, stdin: 'pipe' });
  const running: ProcessHandle[] = [sender];
  let aborting: Promise<unknown> | undefined;
  const abort = () => {
    aborting ??= Promise.all(running.map(askedToEnd));
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    if (signal?.aborted) abort();
    let receiver: Promise<string> | undefined;
    let connect: ProcessHandle | undefined;
    let head: Uint8Array = new Uint8Array();
    for await (const { type, bytes } of sender) {
      if (type === 'stderr-data') onStderr(bytes);
      else if (connect) await connect.write(bytes);
      else {
        head = joined(head, bytes);
        const asked = receiverOf(head);
        if (!asked || signal?.aborted) continue;
        connect = await far.host.spawn({
          argv: ['env', 'LC_ALL=C', 'sh', '-c', INSIDE, 'sh', far.path, ...asked.words],
          stdin: 'pipe',
        });
        running.push(connect);
        if (signal?.aborted) await askedToEnd(connect);
        receiver = carriedBack(connect, sender);
        receiver.catch(() => {}); // awaited below, where the sender's end is known
        await connect.write(asked.rest);
      }
    }
    await connect?.closeStdin();
    const { code } = await sender.exit;
    return { code, farSaid: (await receiver) ?? '' };
  } finally {
    signal?.removeEventListener('abort', abort);
    await aborting;
    await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
    signal?.throwIfAborted();
  }
}

/** What the receiver answers goes to the sender. @returns the end of what it said beside that */
async function carriedBack(receiver: ProcessHandle, sender: ProcessHandle): Promise<string> {
  let said = '';
  try {
    for await (const { type, bytes } of receiver)
      if (type === 'stdout-data') await sender.write(bytes);
      else said = `${said}${decodeRaw(bytes)}`.slice(-MAX_FAR_SAID);
  } finally {
    await sender.closeStdin();
  }
  return said;
}

/** Number of words, the words, each ended by NUL; what comes after is the connection's. */
function receiverOf(
  head: Uint8Array,
): { readonly words: readonly [string, ...string[]]; readonly rest: Uint8Array } | undefined {
  const ends: number[] = [];
  for (let at = 0; at < head.length; at += 1) {
    if (head[at] !== 0) continue;
    ends.push(at);
    const count = Number(decodeRaw(head.subarray(0, ends[0])));
    if (ends.length <= count) continue;
    const [program, server, ...more] = decodeRaw(head.subarray((ends[0] ?? 0) + 1, at)).split('\0');
    if (program !== 'rsync' || server !== '--server') break;
    return { words: [program, server, ...more], rest: head.subarray(at + 1) };
  }
  if (head.length <= MAX_HEAD_BYTES && !(ends.length > 1 && ends.length > Number(decodeRaw(head.subarray(0, ends[0])))))
    return undefined;
  throw new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    'What runs as rsync at the source does not ask for its other side.',
    {
      operation: 'sync',
      hint: 'Look at which rsync is first in the search path of that host.',
    },
  );
}

async function askedToEnd(process: ProcessHandle): Promise<void> {
  await process.kill('SIGTERM').catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, LAST_WORDS_MS);
  });
  await Promise.race([process.exit, late]);
  clearTimeout(timer);
  await process[Symbol.asyncDispose]();
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
