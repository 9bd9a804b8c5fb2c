import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SshServer } from '@litterbox/testing';
import type { AgentFixture } from './agent-fixture.ts';

/** Where the sandboxes of a run can be. */
export const PLACES = ['overlayfs', 'docker', 'podman', 'ssh'] as const;
export type Place = (typeof PLACES)[number];

export const isPlace = (name: string): name is Place => PLACES.some((one) => one === name);

export const isContainer = (place: Place): boolean => place === 'docker' || place === 'podman';

/**
 * Prepares the person's machine for sandboxes of a kind, and gives the options of `litterbox with` that ask for one. Over SSH the other
 * machine is a server on loopback, which the person adds as they would add any.
 *
 * @param image of containers, with git in it. @defaultValue that of Litterbox, which has none
 * @param bin a directory that comes first in the PATH of the other machine
 * @throws AssertionError
 */
export async function placeOn(
  fixture: AgentFixture,
  place: Place,
  image?: string,
  bin?: string,
): Promise<readonly string[]> {
  if (place === 'overlayfs') return [];
  if (isContainer(place)) return ['--provider', place, ...(image === undefined ? [] : ['--image', image])];
  return (await otherMachine(fixture, bin)).place;
}

/** A machine over SSH whose sessions can be cut, or stop to answer: they are programs of this one. */
export interface OtherMachine {
  readonly place: readonly string[];
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

/** Adds a machine over SSH, as a person does. @throws AssertionError */
export async function otherMachine(fixture: AgentFixture, bin?: string): Promise<OtherMachine> {
  const there = join(fixture.scratch.directory, 'there');
  const path = bin === undefined ? '' : ` PATH=${bin}:${fixture.environment['PATH']}`;
  const server = fixture.use(await SshServer.start({ config: [`SetEnv XDG_STATE_HOME=${there}${path}`] }));
  const known = join(fixture.home, '.ssh');
  mkdirSync(known, { mode: 0o700 });
  writeFileSync(join(known, 'known_hosts'), server.knownHost);
  const { destination, identityFile } = server;
  const added = fixture.litterbox('host', 'add', 'box', destination, '--identity-file', identityFile);
  assert.equal(added.status, 0, added.stderr);
  return {
    place: ['--host', 'box'],
    signal(name) {
      for (const pid of sessionsOf(server.pid)) process.kill(pid, name);
    },
  };
}

function sessionsOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  const sessions = children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'latin1').startsWith('sshd'));
  return sessions.flatMap((child) => [child, ...sessionsOf(child)]);
}
