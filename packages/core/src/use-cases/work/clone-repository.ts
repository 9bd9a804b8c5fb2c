import { LitterboxError } from '../../domain/errors/errors.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import { visible } from '../../domain/text/visible.ts';
import { workspacePath } from '../../domain/paths/workspace-path.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { FetchedRepository, SourceControl } from '../../ports/source-control/source-control.ts';
import type { InspectSandbox } from './inspect-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';

/** A repository of the network, and where it goes in the playground. */
export interface CloneRepositoryInput {
  readonly sandbox: string;
  readonly url: string;
  /** Below the playground. @defaultValue the last part of the URL */
  readonly destination?: string | undefined;
}

/** A clone in the playground. */
export interface ClonedRepository {
  readonly url: string;
  /** Absolute path inside. */
  readonly path: string;
  /** The commit that is checked out; absent when the repository is empty. */
  readonly head?: string;
}

const TIMEOUT_MS = 10 * 60_000;

/** Exit codes: 41 there is no git inside, 42 something is at the destination. */
const PREPARE = `command -v git >/dev/null || exit 41
[ ! -e "$1" ] && [ ! -h "$1" ] || exit 42
mkdir -p "\${1%/*}"`;
const UNBUNDLE = `trap 'rm -f "$1"' EXIT
git -c core.hooksPath=/dev/null clone -q --template= -- "$1" "$2" || { rm -rf "$2"; exit 1; }
git -C "$2" remote set-url origin "$3"
git -C "$2" rev-parse -q --verify HEAD`;

interface Needs {
  readonly inspectSandbox: InspectSandbox;
  readonly sourceControl: SourceControl;
}

/**
 * Clones a repository of the network into a sandbox's playground. The network is reached from outside the sandbox, by one program
 * with one address; what arrives is unpacked by the sandbox's own git. The caller has asked a person.
 */
export class CloneRepository {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `PATH_OUTSIDE_WORKDIR`, `ALREADY_EXISTS`, `UNSUPPORTED`, and what `SourceControl.fetch` throws. */
  async clone(
    { sandbox, url, destination }: CloneRepositoryInput,
    options?: ProgressOptions,
  ): Promise<ClonedRepository> {
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-clone',
        input: { url: url.slice(0, 2048) },
        look: async (opened) => {
          const path = destinationOf(opened.runtime.playground, destination ?? nameOf(url));
          await prepare(opened, path, options);
          if (!this.#needs.sourceControl.fetch) throw unsupported('This source control cannot fetch from the network.');
          options?.onProgress?.({ step: 'fetch', message: `Fetching ${visible(url)}` });
          await using fetched = await this.#needs.sourceControl.fetch(url, options);
          options?.onProgress?.({ step: 'unpack', message: 'Unpacking it in the sandbox' });
          const head = await unbundle(opened, fetched, path, options);
          return { url: fetched.url, path, ...(head !== '' && { head }) };
        },
      },
      options,
    );
  }
}

const nameOf = (url: string) => /([^/]+?)(?:\.git)?\/*$/.exec(url)?.[1] ?? '';

function destinationOf(playground: string, destination: string): string {
  const path = workspacePath(playground, destination).replace(/\/$/, '');
  if (path.startsWith(`${playground}/`)) return path;
  throw new LitterboxError('PATH_OUTSIDE_WORKDIR', `${shown(destination)} does not lie below ${playground}.`, {
    operation: 'sandbox.clone',
    hint: 'Clones go to the playground, never into the workspace: leave the destination out, or name a directory there.',
  });
}

function unsupported(message: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', message, {
    operation: 'sandbox.clone',
    hint: 'Bring the files in another way, such as by a commit of your own.',
  });
}

async function prepare({ channel }: OpenedSandbox, path: string, options?: ProgressOptions): Promise<void> {
  const { exit } = await channel.run({ argv: [path], script: PREPARE, timeoutMs: TIMEOUT_MS }, options);
  if (exit.code === 41) throw unsupported('There is no git in the sandbox.');
  if (exit.code === 42)
    throw new LitterboxError('ALREADY_EXISTS', `There is something at ${shown(path)} in the sandbox.`, {
      operation: 'sandbox.clone',
      hint: 'Name another destination, or remove it there.',
    });
  if (exit.code !== 0)
    throw new LitterboxError('PERMISSION_DENIED', `${shown(path)} cannot be made in the sandbox.`, {
      operation: 'sandbox.clone',
      hint: 'Name another destination.',
    });
}

async function unbundle(
  { runtime, channel }: OpenedSandbox,
  fetched: FetchedRepository,
  path: string,
  options?: ProgressOptions,
): Promise<string> {
  const file = `${runtime.playground}/.clone-${crypto.randomUUID().slice(0, 8)}.bundle`;
  await using writer = await runtime.spawn(
    { argv: ['sh', '-c', 'exec cat >"$1"', 'sh', file], stdin: 'pipe' },
    options,
  );
  const listening = (async () => {
    for await (const _chunk of writer); // says nothing of interest
  })();
  for await (const bytes of fetched.bundle(options)) await writer.write(bytes);
  await writer.closeStdin();
  await listening;
  const written = await writer.exit;
  const { exit, stdout, stderr, interruption } = await channel.run(
    { argv: [file, path, fetched.url], script: UNBUNDLE, timeoutMs: TIMEOUT_MS },
    options,
  );
  if (interruption === 'abort') throw options?.signal?.reason;
  const isEmpty = exit.code === 1 && decodeRaw(stderr.bytes).trim() === '' && written.code === 0;
  if (written.code === 0 && (exit.code === 0 || isEmpty)) return decodeRaw(stdout.bytes).trim();
  throw new LitterboxError(
    'SNAPSHOT_FAILED',
    `Litterbox could not unpack the clone in the sandbox: ${shown(decodeRaw(stderr.bytes).trim())}`,
    { operation: 'sandbox.clone', hint: 'Check whether there is room in the playground.' },
  );
}
