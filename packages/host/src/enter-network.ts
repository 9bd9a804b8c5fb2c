import { type ChildProcess, spawn } from 'node:child_process';
import { LitterboxError, type NetworkNamespace } from '@litterbox/core/provider';

/** Starts a Node of the machine in a namespace's network, with nothing else of it, and a channel to it. Its first argument is the identity. */
export function enterNetwork(
  { path, identity, userNamespace }: NetworkNamespace,
  searchPath: string,
  program: string,
  ...rest: readonly string[]
): ChildProcess {
  const enter = [...(userNamespace ? [`--user=${userNamespace}`, '--preserve-credentials'] : []), `--net=${path}`];
  return spawn('nsenter', [...enter, '--', process.execPath, '--eval', program, identity, ...rest], {
    cwd: '/',
    env: { PATH: searchPath, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
  });
}

/** First in every program for {@link enterNetwork}: whoever has the number of the process by now, it must be this namespace. */
export const ASSERT_NETWORK = `if (require('node:fs').readlinkSync('/proc/self/ns/net') !== process.argv[1]) process.exit(3);`;

/** Why such a program ended before it was inside. */
export function reasonOf(exitCode: number | null, said: string): string {
  return said.trim() || (exitCode === 3 ? 'it is another one by now' : `exit code ${exitCode}`);
}

/** The error of whoever started it. */
export function cannotEnter(operation: 'host.connect' | 'host.listen', reason: string): LitterboxError {
  return new LitterboxError('UNAVAILABLE', `The network of the sandbox could not be entered: ${reason}.`, {
    operation,
    hint: 'Try again; if it happens again, check whether nsenter (util-linux) is installed.',
  });
}
