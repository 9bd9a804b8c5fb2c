import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError, advice, step } from '@litterbox/core/provider';
import { isAbsolutePath } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { showAddress } from '../address/engine-address.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { hasStartedAlready, isGoneOrGoing, isNameTaken } from '../engine/engine-answers.ts';
import { answerOf } from '../engine/engine-error.ts';
import { initScript } from '@litterbox/sandbox-kit';
import { inspectContainer } from '../engine/inspect-container.ts';
import { LABELS, labelsOf } from '../engine/labels.ts';
import { noAnswer } from '../engine/invalid-answer.ts';

/** What is kept of an engine that does not see the host's files: by it they are found again. */
export interface FilesRecord {
  readonly version: 1;
  /** Of the volume and of the container that it is reached through. */
  readonly name: string;
  /** Where the volume is on the engine's own machine, and in that container. */
  readonly directory: string;
  /** Whose programs reach it: the image of the first sandbox. */
  readonly imageId: string;
  /** Where the engine was reached then, for people. */
  readonly address?: string;
}

/** A container through which the files are reached. */
export interface FileAccessContainer {
  /** As a whole: another one of the same name has another. */
  readonly id: string;
  /** What is in its environment. */
  readonly names: readonly string[];
}

/** What engines add to an environment. */
const ADDED = ['PATH', 'HOSTNAME', 'HOME', 'container'];
/** Unpacking and removing take little; what is unpacked passes through. */
const MEMORY_BYTES = 512 * 2 ** 20;
const MAX_PROCESSES = 256;
/** How long a removal by others is waited for: five seconds. */
const MAX_ATTEMPTS = 50;
const LOOK_AGAIN_MS = 100;

/** Makes the volume. It stays, and the container with it, until somebody removes them: they hold the sandboxes. */
export async function makeFilesVolume(engine: Engine, imageId: string, options?: CallOptions): Promise<FilesRecord> {
  const name = `litterbox-files-${crypto.randomUUID()}`;
  await engine.ask(
    'provider.create',
    async (docker, signal) =>
      docker.createVolume({ Name: name, Driver: 'local', Labels: { [LABELS.files]: name }, abortSignal: signal }),
    { ...options, limitMs: WORK_MS },
  );
  const { Mountpoint: directory } = await engine.ask(
    'provider.create',
    async (docker) => docker.getVolume(name).inspect(),
    options,
  );
  if (!isAbsolutePath(directory)) throw noAnswer(engine, 'provider.create', 'a volume');
  return { version: 1, name, directory, imageId, address: showAddress(await engine.address(options)) };
}

/** The container, which runs then. Another process may remove it meanwhile, as long as nobody works in it. */
export async function ensureFilesContainer(
  engine: Engine,
  record: FilesRecord,
  options?: CallOptions,
): Promise<FileAccessContainer> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await delay(LOOK_AGAIN_MS, undefined, { ...(options?.signal && { signal: options.signal }) });
    const inspect = () => inspectContainer(engine, 'provider.files', record.name, options);
    const found = (await inspect()) ?? ((await makeFilesContainer(engine, record, options)) && (await inspect()));
    if (!found || !(await startFilesContainer(engine, found, options))) continue;
    return {
      id: found.Id,
      names: [...(found.Config.Env ?? []).map((entry) => entry.split('=')[0] ?? ''), ...ADDED],
    };
  }
  throw new LitterboxError('UNAVAILABLE', `The container ${record.name} is removed again and again.`, {
    operation: 'provider.files',
    provider: engine.provider,
    hint: 'Try again.',
  });
}

/** @returns false when another process was faster: it made the container, or its removal still goes on */
async function makeFilesContainer(engine: Engine, record: FilesRecord, options?: CallOptions): Promise<boolean> {
  await assertVolume(engine, record, options);
  try {
    await engine.ask(
      'provider.files',
      (docker, signal) => docker.createContainer({ ...filesContainerOptions(record), abortSignal: signal }),
      { ...options, limitMs: WORK_MS },
    );
    return true;
  } catch (error) {
    const { cause } = error as LitterboxError;
    if (answerOf(cause).statusCode === 404)
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
    if (isNameTaken(cause)) return false;
    throw error;
  }
}

/** An engine makes a volume that a container names and that is not there: an empty one, which would say that all sandboxes are gone. */
async function assertVolume(engine: Engine, { name, address }: FilesRecord, options?: CallOptions): Promise<void> {
  const found = await engine.askIfThere('provider.files', (docker) => docker.getVolume(name).inspect(), options);
  if (found) return;
  const now = showAddress(await engine.address(options));
  throw new LitterboxError(
    'REMOTE_STATE_LOST',
    `${engine.title} at ${now} has no volume ${name}, which holds the sandboxes${address === undefined ? '' : ` that were made at ${address}`}.`,
    {
      operation: 'provider.files',
      provider: engine.provider,
      hint: advice`If another engine answers there, name the right one. If the volume was removed its sandboxes are gone: remove the directory below engines/ in the state directory whose place.json names it, then ${step('sandbox-recover')} builds each from its last revision.`,
      facts: { volume: name, now },
    },
  );
}

/** @returns false when the container is gone, or is being removed */
async function startFilesContainer(
  engine: Engine,
  { Id: id, State }: Docker.ContainerInspectInfo,
  options?: CallOptions,
): Promise<boolean> {
  const ask = async (change: (container: Docker.Container, signal: AbortSignal) => Promise<unknown>) =>
    await engine.ask(
      'provider.files',
      async (docker, signal) => {
        try {
          await change(docker.getContainer(id), signal);
          return true;
        } catch (error) {
          if (hasStartedAlready(error)) return true; // it runs by now
          if (isGoneOrGoing(error)) return false;
          throw error;
        }
      },
      { ...options, limitMs: WORK_MS },
    );
  if (State.Paused && !(await ask((container) => container.unpause()))) return false;
  return State.Running || (await ask((container, signal) => container.start({ abortSignal: signal })));
}

/** Whether the container is there and runs. */
export async function hasFilesContainer(
  engine: Engine,
  { name }: FilesRecord,
  options: CallOptions & { readonly limitMs: number },
): Promise<boolean> {
  const found = await inspectContainer(engine, 'provider.files', name, options);
  return found?.State.Running === true;
}

/**
 * Removes the container unless another process has programs in it. It is made again when it is needed, so it may go while
 * sandboxes are there.
 *
 * @param own the programs of the caller in it, as the engine knows them
 * @param patienceMs how long others may take to end: the engine knows of it a moment later than they
 * @returns whether it is gone
 */
export async function removeFilesContainer(
  engine: Engine,
  { name }: FilesRecord,
  own: ReadonlySet<string>,
  patienceMs = 0,
): Promise<boolean> {
  const call = { limitMs: WORK_MS };
  const found = await inspectContainer(engine, 'provider.files', name, call);
  if (!found) return true;
  const deadlineMs = performance.now() + patienceMs;
  for (const exec of Array.isArray(found.ExecIDs) ? found.ExecIDs.map(String) : []) {
    if (own.has(exec)) continue;
    const inspect = () => engine.askIfThere('provider.files', (docker) => docker.getExec(exec).inspect(), call);
    while ((await inspect())?.Running) {
      if (performance.now() >= deadlineMs) return false;
      await delay(LOOK_AGAIN_MS);
    }
  }
  await engine.askIfThere(
    'provider.files',
    (docker) => docker.getContainer(found.Id).remove({ force: true, v: true }),
    call,
  );
  return true;
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
    Entrypoint: ['/bin/sh', '-c', initScript()],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    Labels: labelsOf({ files: name }),
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
