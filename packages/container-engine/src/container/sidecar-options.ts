import { CALL_VARIABLE, type SandboxId } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { MASKED_PATHS, READONLY_PATHS } from '../inside/kernel-files.ts';
import { labelsOf } from '../engine/labels.ts';

export interface SidecarOptionsInput {
  /** Of the sandbox. */
  readonly id: SandboxId;
  /** The engine's id of the sandbox's container, whose network is shared. */
  readonly container: string;
  /** The image of the sandbox: its shell and its Perl are what runs. */
  readonly imageId: string;
  readonly facts: EngineFacts;
  readonly seccomp: string;
  readonly usersMode: string;
  readonly masks?: readonly string[];
}

/** What names of the containers beside a sandbox's begin with. No image can give a container a name. */
export const sidecarNames = (id: SandboxId) => `litterbox-sidecar-${id}-`;

/** A program for each of 64 connections in both directions, with a shell of ours above each. */
const MAX_PROCESSES = 512;
const MEMORY_BYTES = 256 * 2 ** 20;
/** Nobody's number on Debian, Alpine, Fedora and BusyBox. */
const NOBODY = '65534:65534';

/**
 * The first process: ends with its stdin, which the engine closes when the program that attached is gone, and reaps what nobody else
 * waits for.
 */
const WAIT_SCRIPT = `exec 3<&0 </dev/null
while :; do ( read -r lb_x <&3 ) & wait $! || exit 0; done`;

/** A container that has nothing but a network: that of the sandbox's container. Every field that decides about isolation is given. */
export function sidecarOptions(input: SidecarOptionsInput): Docker.ContainerCreateOptions & { name: string } {
  const { id, container, imageId, facts, seccomp, usersMode, masks = [] } = input;
  return {
    name: `${sidecarNames(id)}${crypto.randomUUID().slice(0, 8)}`,
    Image: imageId,
    User: NOBODY,
    WorkingDir: '/',
    Entrypoint: ['/bin/sh', '-c', WAIT_SCRIPT],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    // What belongs to no call would be ended with the next one that ends.
    Env: [`${CALL_VARIABLE}=sidecar`],
    Labels: labelsOf({ sidecar: id }),
    AttachStdin: true,
    AttachStdout: false,
    AttachStderr: false,
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    StopTimeout: 1,
    HostConfig: {
      NetworkMode: `container:${container}`,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccomp}`, ...masks],
      MaskedPaths: [...MASKED_PATHS],
      ReadonlyPaths: [...READONLY_PATHS],
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,nosuid,nodev,noexec,size=1m,mode=1777', '/run': 'rw,nosuid,nodev,noexec,size=1m' },
      Mounts: [],
      ...(facts.enforced.memory && { Memory: MEMORY_BYTES, MemorySwap: MEMORY_BYTES }),
      ...(facts.enforced.processes && { PidsLimit: MAX_PROCESSES }),
      IpcMode: 'private',
      PidMode: '',
      UTSMode: '',
      UsernsMode: usersMode,
      CgroupnsMode: 'private',
      RestartPolicy: { Name: 'no' },
      AutoRemove: true,
      Init: false,
      LogConfig: { Type: 'none', Config: {} },
    },
  } as Docker.ContainerCreateOptions & { name: string };
}
