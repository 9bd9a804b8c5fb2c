import { type CallOptions, LitterboxError } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import { type Engine, WORK_MS } from '../engine.ts';
import { answerOf } from '../engine-error.ts';
import { INIT_SCRIPT } from '../init-script.ts';

/** What is kept of an engine that does not see the host's files: by it they are found again. */
export interface FilesRecord {
  readonly version: 1;
  /** Of the volume and of the container that it is reached through. */
  readonly name: string;
  /** Where the volume is on the engine's own machine, and in that container. */
  readonly directory: string;
  /** Whose programs reach it: the image of the first sandbox. */
  readonly imageId: string;
}

/** A container through which the files are reached. */
export interface FilesContainer {
  /** As a whole: another one of the same name has another. */
  readonly id: string;
  /** What is in its environment. */
  readonly names: readonly string[];
}

/** What engines add to an environment. */
const ADDED = ['PATH', 'HOSTNAME', 'HOME', 'container'];
export const FILES_LABEL = 'dev.litterbox.files';
/** Unpacking and removing take little; what is unpacked passes through. */
const MEMORY_BYTES = 512 * 2 ** 20;
const MAX_PROCESSES = 256;

/** Makes the volume. It stays, and the container with it, until somebody removes them: they hold the sandboxes. */
export async function makeFilesVolume(engine: Engine, imageId: string, call?: CallOptions): Promise<FilesRecord> {
  const name = `litterbox-files-${crypto.randomUUID()}`;
  await engine.ask(
    'provider.create',
    async (docker, signal) =>
      docker.createVolume({ Name: name, Driver: 'local', Labels: { [FILES_LABEL]: name }, abortSignal: signal }),
    { ...call, limitMs: WORK_MS },
  );
  const { Mountpoint: directory } = await engine.ask(
    'provider.create',
    async (docker) => docker.getVolume(name).inspect(),
    call,
  );
  return { version: 1, name, directory, imageId };
}

/** The container, which runs then. */
export async function ensureFilesContainer(
  engine: Engine,
  record: FilesRecord,
  call?: CallOptions,
): Promise<FilesContainer> {
  const work = { ...call, limitMs: WORK_MS };
  const inspect = async () =>
    await engine.askIfThere('provider.files', async (docker) => docker.getContainer(record.name).inspect(), call);
  let found = await inspect();
  if (!found) {
    try {
      await engine.ask(
        'provider.files',
        async (docker, signal) => docker.createContainer({ ...filesContainerOptions(record), abortSignal: signal }),
        work,
      );
    } catch (error) {
      const { statusCode, said } = answerOf((error as LitterboxError).cause);
      if (statusCode === 404)
        throw new LitterboxError(
          'UNAVAILABLE',
          `${engine.title} has lost the image that its files are reached with (${record.imageId.slice(0, 19)}).`,
          {
            operation: 'provider.files',
            provider: engine.provider,
            hint: `Get the image again; the files are safe in the volume ${record.name}.`,
          },
          { cause: error },
        );
      if (statusCode !== 409 && !/already (in use|exists)/i.test(said)) throw error; // another process was faster
    }
    found = await inspect();
  }
  if (!found)
    throw new LitterboxError('UNAVAILABLE', `The container ${record.name} was removed meanwhile.`, {
      operation: 'provider.files',
      provider: engine.provider,
      hint: 'Try again.',
    });
  const { Id: id, State, Config } = found;
  if (State.Paused) await engine.ask('provider.files', async (docker) => docker.getContainer(id).unpause(), work);
  if (!State.Running)
    await engine.ask(
      'provider.files',
      async (docker, signal) => {
        try {
          await docker.getContainer(id).start({ abortSignal: signal });
        } catch (error) {
          if (answerOf(error).statusCode !== 304) throw error; // it runs by now
        }
      },
      work,
    );
  return {
    id,
    names: [...(Config.Env ?? []).map((entry) => entry.split('=')[0] ?? ''), ...ADDED],
  };
}

/** It is made again when it is needed. */
export async function removeFilesContainer(engine: Engine, { name }: FilesRecord): Promise<void> {
  await engine.askIfThere(
    'provider.files',
    async (docker) => docker.getContainer(name).remove({ force: true, v: true }),
    {
      limitMs: WORK_MS,
    },
  );
}

/**
 * Root inside, for files belong to the sandboxes' user; of root's rights it has those over files alone, no network, and nothing of
 * the engine's machine but the volume.
 */
function filesContainerOptions({
  name,
  directory,
  imageId,
}: FilesRecord): Docker.ContainerCreateOptions & { name: string } {
  return {
    name,
    Image: imageId,
    User: '0:0',
    WorkingDir: '/',
    Hostname: 'files',
    Entrypoint: ['/bin/sh', '-c', INIT_SCRIPT],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    Labels: { [FILES_LABEL]: name },
    OpenStdin: true,
    StdinOnce: false,
    NetworkDisabled: true,
    StopTimeout: 5,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,nosuid,nodev,noexec,size=64m,mode=1777', '/run': 'rw,nosuid,nodev,noexec,size=1m' },
      Mounts: [
        {
          Type: 'volume',
          Source: name,
          Target: directory,
          ReadOnly: false,
          VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: '', Options: {} } },
        },
      ],
      PidsLimit: MAX_PROCESSES,
      Memory: MEMORY_BYTES,
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}
