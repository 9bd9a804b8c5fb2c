import { LitterboxError } from '../domain/errors/errors.ts';
import { advice, step } from '../domain/errors/next-step.ts';
import { decodeRaw, encodeRaw } from '../domain/text/raw-text.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';

/** Takes files away, and no directory: of one, `rm` says so and leaves it. Names come on stdin, each ended by NUL. */
const REMOVE = 'xargs -0 sh -c \'rm -f -- "$@" 2>/dev/null; :\' sh';

/** Takes directories away that are empty. */
const REMOVE_EMPTY = 'xargs -0 sh -c \'rmdir -- "$@" 2>/dev/null; :\' sh';

/** Makes way for files: what has another type at their place or above it goes. */
const MAKE_WAY = `xargs -0 sh -c 'for f do
  if [ -d "$f" ] && [ ! -h "$f" ]; then rm -rf -- "$f"; fi
  d=\${f%/*}
  while [ "$d" != . ]; do
    if [ -h "$d" ] || { [ -e "$d" ] && [ ! -d "$d" ]; }; then rm -f -- "$d"; fi
    d=\${d%/*}
  done
done; :' sh`;

/** New times, so that build tools see that something changed. */
const EXTRACT = ['tar', '-x', '-m', '-f', '-'] as const;

/**
 * Puts files into a workspace and takes others away, all by programs inside the sandbox. What is not named stays as it is.
 *
 * @param archive the files to write, as `SourceRepository.tree` gives them
 * @throws LitterboxError `SNAPSHOT_FAILED` when the sandbox cannot; then some of it may be done.
 */
export async function putFiles(
  runtime: SandboxRuntime,
  files: {
    readonly written: readonly string[];
    readonly removed: readonly string[];
    readonly archive: AsyncIterable<Uint8Array>;
  },
  options?: CallOptions,
): Promise<void> {
  const { written, removed, archive } = files;
  if (removed.length > 0) {
    await feed(runtime, ['sh', '-c', REMOVE], names(removed), options);
    const above = directoriesAbove(removed);
    if (above.length > 0) await feed(runtime, ['sh', '-c', REMOVE_EMPTY], names(above), options);
  }
  if (written.length === 0) return;
  await feed(runtime, ['sh', '-c', MAKE_WAY], names(written), options);
  await feed(runtime, EXTRACT, archive, options);
}

/** The directories above these paths, each once, what is in another one before it. */
function directoriesAbove(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end);
      if (found.has(directory)) break; // and with it all above
      found.add(directory);
    }
  }
  return [...found].toSorted((left, right) => right.length - left.length);
}

async function* names(paths: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < paths.length; at += 1000)
    yield encodeRaw(
      paths
        .slice(at, at + 1000)
        .map((path) => `./${path}\0`)
        .join(''),
    );
}

async function feed(
  runtime: SandboxRuntime,
  argv: readonly [string, ...string[]],
  input: AsyncIterable<Uint8Array>,
  options?: CallOptions,
): Promise<void> {
  await using process = await runtime.spawn({ argv, cwd: runtime.workdir, stdin: 'pipe' }, options);
  let said = '';
  const listening = (async () => {
    for await (const { bytes } of process) if (said.length < 2000) said += decodeRaw(bytes);
  })();
  for await (const bytes of input) {
    options?.signal?.throwIfAborted();
    await process.write(bytes);
  }
  await process.closeStdin();
  await listening;
  const { code } = await process.exit;
  if (code === 0) return;
  throw new LitterboxError(
    'SNAPSHOT_FAILED',
    `Files could not be put into the sandbox (exit code ${code}): ${said.trim().slice(0, 500)}`,
    {
      operation: 'sandbox.put-files',
      hint: advice`Look inside: ${step('sandbox-shell')}. To rebuild it from its last revision: ${step('sandbox-recover')}.`,
    },
  );
}
