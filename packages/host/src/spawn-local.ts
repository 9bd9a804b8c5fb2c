import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  type CallOptions,
  encodeRaw,
  LitterboxError,
  printfFormat,
  type ProcessHandle,
  type ProcessSpec,
  quoted,
  shown,
} from '@litterbox/core/provider';
import { ChildHandle } from './child-handle.ts';
import { hostError } from './host-error.ts';
import { inheritedDescriptors } from './inherited-descriptors.ts';

/** bash, because dash and busybox know descriptors of one digit only. */
const BASH = '/bin/bash';

/** Starts a program of this machine with exactly the environment and the three descriptors that were asked for. */
export async function spawnLocal(
  spec: ProcessSpec & { readonly env: Readonly<Record<string, string>> },
  options?: CallOptions,
): Promise<ProcessHandle> {
  options?.signal?.throwIfAborted();
  if (spec.terminal) {
    throw new LitterboxError('UNSUPPORTED', 'A program of the host itself gets no terminal.', {
      operation: 'host.spawn',
    });
  }
  const [program, ...args] = withoutInherited(withRawBytes(spec.argv));
  if (program !== spec.argv[0] && !isInPath(spec.argv[0], spec.env['PATH']))
    throw spawnError(spec, Object.assign(new Error('not found'), { code: 'ENOENT' }));
  const child = spawn(program, args, {
    cwd: spec.cwd ?? '/',
    env: spec.env,
    stdio: [spec.stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true, // leads its own process group, so that disposing reaches what it started
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(spawnError(spec, error)));
  });
  return new ChildHandle(child, options?.signal);
}

/** What starts a program for us would only say so by its exit code. */
function isInPath(program: string, path = '/usr/bin:/bin'): boolean {
  return program.includes('/')
    ? existsSync(program)
    : path.split(':').some((directory) => existsSync(`${directory}/${program}`));
}

/** Node encodes arguments as UTF-8; bytes that are not come through a shell's printf. The `x` keeps newlines at the end. */
function withRawBytes(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (argv.every((text) => text.isWellFormed())) return argv;
  const words = argv.map((text) => `v=$(printf ${quoted(`${printfFormat(encodeRaw(text))}x`)}); set -- "$@" "\${v%x}"`);
  return ['/bin/sh', '-c', `${words.join('\n')}\nexec "$@"`];
}

function withoutInherited(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  const descriptors = inheritedDescriptors();
  if (descriptors.length === 0) return argv;
  if (!existsSync(BASH)) {
    throw new LitterboxError(
      'DEGRADED',
      `Descriptors ${descriptors.join(', ')} of the calling program would leak into programs started from it.`,
      {
        operation: 'host.spawn',
        hint: `Install bash, or start Litterbox without open descriptors (… ${descriptors.map((fd) => `${fd}>&-`).join(' ')}).`,
      },
    );
  }
  return [BASH, '--norc', '-c', `exec ${descriptors.map((fd) => `${fd}>&-`).join(' ')}; exec "$@"`, 'bash', ...argv];
}

function spawnError(spec: ProcessSpec, error: NodeJS.ErrnoException): LitterboxError {
  const [program] = spec.argv;
  if (error.code !== 'ENOENT') return hostError('host.spawn', program, error);
  if (spec.cwd !== undefined && !existsSync(spec.cwd)) return hostError('host.spawn', spec.cwd, error);
  return new LitterboxError(
    'TOOL_MISSING',
    `The program ${shown(program)} is not installed.`,
    { operation: 'host.spawn' },
    { cause: error },
  );
}
