import { LitterboxError } from '../domain/errors/errors.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { ProcessHandle, ProcessSpec } from '../ports/common/process.ts';
import type { OpenedSandbox } from './opened-sandbox.ts';
import { redactedProcess } from './redacted-process.ts';

/** A pipe with a name stores nothing, and only the user of the sandbox may open it. `$1` is its path. */
const MAKE = 'umask 077; mkfifo -- "$1"';
/** `$2` are names of variables. */
const GIVE = 'for lb_n in $2; do eval "lb_v=\\$$lb_n"; printf "%s\\n" "$lb_n=$lb_v"; done >"$1"';
const TAKE = 'while IFS= read -r lb_v; do export "$lb_v"; done <"$0"; unset lb_v; rm -f -- "$0"; exec "$@"';
const MAKE_MS = 30_000;

/**
 * Starts a process that holds the secrets of the sandbox, and takes them out of its output. A provider may name the environment of a process
 * in the arguments of a program outside, which everybody on that machine can read. So the exec channel hands them in: it is told by its input.
 *
 * @throws LitterboxError `UNSUPPORTED` without `mkfifo` inside, else as the runtime's `spawn`
 */
export async function spawnWithSecrets(
  { channel, runtime, secrets }: Pick<OpenedSandbox, 'channel' | 'runtime' | 'secrets'>,
  spec: ProcessSpec,
  options?: CallOptions,
): Promise<ProcessHandle> {
  const names = Object.keys(secrets.variables).filter((name) => !Object.hasOwn(spec.env ?? {}, name));
  if (names.length === 0) return redactedProcess(await runtime.spawn(spec, options), secrets);
  const path = `/tmp/.litterbox-${crypto.randomUUID()}`;
  const { exit } = await channel.run({ argv: [path], script: MAKE, timeoutMs: MAKE_MS }, options);
  options?.signal?.throwIfAborted();
  if (exit.code !== 0) throw noPipe();
  const giving = new AbortController();
  const give = { argv: [path, names.join(' ')], script: GIVE, env: secrets.variables } as const;
  const given = channel.run(give, { signal: giving.signal });
  given.catch(() => {}); // see below
  try {
    const process = await runtime.spawn({ ...spec, argv: ['sh', '-c', TAKE, path, ...spec.argv] }, options);
    const over = () => giving.abort();
    process.exit.then(over, over);
    const end = () => process[Symbol.asyncDispose](); // it would wait for ever
    given.then(async ({ exit: gave }) => void (gave.code !== 0 && (await end())), end).catch(() => {});
    return redactedProcess(process, secrets);
  } catch (error) {
    giving.abort();
    await channel.run({ argv: ['rm', '-f', '--', path] }).catch(() => {}); // it goes with the sandbox
    throw error;
  }
}

function noPipe(): LitterboxError {
  return new LitterboxError('UNSUPPORTED', 'The secrets of the sandbox cannot be handed in: mkfifo failed in /tmp.', {
    operation: 'process.spawn',
    hint: 'Install coreutils in its root file system, and leave /tmp writable.',
  });
}
