import {
  type Assurance,
  type CallOptions,
  decodeRaw,
  LitterboxError,
  missingControls,
  type NetworkNamespace,
  type SandboxId,
  shown,
  visibleName,
} from '@litterbox/core/provider';
import { parseProcessors, runScript } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { assuranceOf } from './assurance-of.ts';
import { workspacePlaces } from './container-options.ts';
import { assertDiskSpeedHolds } from '../engine/disk-speed.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { firstProcessOf } from '../process/first-process-of.ts';
import { inspectContainer } from '../engine/inspect-container.ts';
import { layersOf, sandboxLayoutOf } from '../engine/layout.ts';
import { noAnswer } from '../engine/invalid-answer.ts';
import { outputFrames } from '../process/output-frames.ts';
import type { SandboxDisks } from './sandbox-disks.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';
import { workspaceFault } from './workspace-fault.ts';

export interface ContainerFactsInput {
  readonly engine: Engine;
  readonly directories: ContainerDirectories;
  readonly facts: (options?: CallOptions) => Promise<EngineFacts>;
  readonly disks: SandboxDisks;
  /** The engine's id of the sandbox's container, which runs then. */
  ensureRunning(meta: SandboxMeta, options?: CallOptions): Promise<string>;
}

/** The network of a container that runs. */
export interface ContainerNetwork {
  /** The engine's id of the container. */
  readonly container: string;
  /** Differs for another container, and for this one once it was started again: each has a network of its own. */
  readonly run: string;
  /** Where who runs programs on the host may enter it. */
  readonly namespace?: NetworkNamespace;
}

/** Reads facts of containers that run, from kernel and engine. */
export class ContainerFacts {
  readonly #engine: Engine;
  readonly #directories: ContainerDirectories;
  readonly #facts: ContainerFactsInput['facts'];
  readonly #disks: SandboxDisks;
  readonly #ensureRunning: ContainerFactsInput['ensureRunning'];

  constructor({ engine, directories, facts, disks, ensureRunning }: ContainerFactsInput) {
    this.#engine = engine;
    this.#directories = directories;
    this.#facts = facts;
    this.#disks = disks;
    this.#ensureRunning = ensureRunning;
  }

  /**
   * @param container the engine's id of the sandbox's container, which runs
   * @throws LitterboxError `DEGRADED` when a control is missing and nobody allowed that; `UNSUPPORTED` when links of the image keep the
   * workspace from its place
   */
  async assertControls(meta: SandboxMeta, container: string, options?: CallOptions): Promise<Assurance> {
    const { assurance, mounts } = await this.#read(meta, container, options);
    this.#assertWorkspace(meta, mounts);
    const { diskBytesPerSecond } = meta.limits;
    if (diskBytesPerSecond !== undefined) await this.#assertDiskSpeed(container, diskBytesPerSecond, options);
    const missing = missingControls(assurance);
    if (missing.length === 0 || meta.allowDegraded) return assurance;
    throw new LitterboxError(
      'DEGRADED',
      `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
      {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
        facts: { missing: missing.map(({ name }) => name) },
      },
    );
  }

  async assurance(meta: SandboxMeta, options?: CallOptions): Promise<Assurance> {
    return (await this.#read(meta, await this.#ensureRunning(meta, options), options)).assurance;
  }

  /** No image is changed by its sandboxes: what it says of the workspace's place is asked when a sandbox is made, and holds from then on. */
  #assertWorkspace(meta: SandboxMeta, mounts: string): void {
    const { provider } = this.#engine;
    if (mounts === '') throw noAnswer(this.#engine, 'provider.create', 'the mounts of a container');
    const places = workspacePlaces(meta);
    const fault = workspaceFault(mounts, places, layersOf(this.#directories.layout, meta).upper);
    if (fault === undefined) return;
    throw new LitterboxError('UNSUPPORTED', `The image ${shown(meta.image)} has ${fault}.`, {
      operation: 'provider.create',
      provider,
      hint: `Set container.base-image to an image where ${places.map((place) => visibleName(place)).join(' and ')} can be a directory: sandboxes have the workspace there.`,
    });
  }

  async #read(
    meta: SandboxMeta,
    id: string,
    options?: CallOptions,
  ): Promise<{ readonly assurance: Assurance; readonly mounts: string }> {
    const [container, facts] = await Promise.all([
      this.#inspect('runtime.assurance', id, options),
      this.#facts(options),
    ]);
    const [[status, map, mounts], diskBytes] = await Promise.all([
      this.#kernelFacts(container, options),
      this.#disks.sizeBytes(meta, firstProcessOf(container), options),
    ]);
    const assurance = assuranceOf({
      provider: this.#engine.provider,
      title: this.#engine.title,
      facts,
      meta,
      container,
      ...(diskBytes !== undefined && { diskBytes }),
      status: new Map(
        status.split('\n').map((line) => {
          const cut = line.indexOf(':');
          return [line.slice(0, cut), line.slice(cut + 1).trim()];
        }),
      ),
      uidMap: map
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]),
    });
    return { assurance, mounts };
  }

  async #assertDiskSpeed(container: string, bytesPerSecond: number, options?: CallOptions): Promise<void> {
    const { provider, host } = this.#directories;
    const pid = firstProcessOf(await this.#inspect('provider.start', container, options));
    await assertDiskSpeedHolds({ provider, host }, pid, bytesPerSecond, options);
  }

  async #inspect(operation: string, id: string, options?: CallOptions): Promise<Docker.ContainerInspectInfo> {
    const found = await inspectContainer(this.#engine, operation, id, options);
    if (found) return found;
    throw new LitterboxError('NOT_FOUND', 'The container of the sandbox is gone.', {
      operation,
      provider: this.#engine.provider,
      hint: 'Try again: Litterbox makes a new one.',
    });
  }

  /** The network of the sandbox's container, which runs then. */
  async network(meta: SandboxMeta, options?: CallOptions): Promise<ContainerNetwork> {
    const id = await this.#ensureRunning(meta, options);
    const [container, facts, { uid }] = await Promise.all([
      this.#inspect('runtime.connect', id, options),
      this.#facts(options),
      this.#directories.host.facts(options),
    ]);
    const network = { container: id, run: `${id} ${container.State.StartedAt}` };
    if (!this.#directories.host.loopback || (uid !== 0 && !facts.isRootless)) return network;
    const process = `/proc/${firstProcessOf(container)}`;
    // Another process may have that number here, when the engine's processes have numbers of their own.
    const script = `grep -q '^NSpid:.*[[:space:]]1$' ${process}/status && readlink ${process}/ns/net`;
    const { code, stdout } = await runScript(this.#directories.host, script, options);
    if (code !== 0) return network;
    const userNamespace = uid === 0 ? {} : { userNamespace: `${process}/ns/user` };
    return { ...network, namespace: { path: `${process}/ns/net`, identity: stdout.trim(), ...userNamespace } };
  }

  /** The processors to which each process of a sandbox has to be bound by itself, because the engine cannot bind the container. */
  async affinity(id: SandboxId, options?: CallOptions): Promise<readonly number[]> {
    const { hasProcessorSets } = await this.#facts(options);
    if (hasProcessorSets === true) return [];
    const bytes = await this.#directories.host.files.read(
      sandboxLayoutOf(this.#directories.layout, id).processors,
      options,
    );
    return parseProcessors(decodeRaw(bytes ?? new Uint8Array()));
  }

  /** {@link FACTS} of the container's first process: from the machine where it can be seen there, else from inside. */
  async #kernelFacts(
    container: Docker.ContainerInspectInfo,
    options?: CallOptions,
  ): Promise<readonly [status: string, map: string, mounts: string]> {
    const first = firstProcessOf(container);
    const [status = '', map = '', mounts = ''] = await Promise.all(
      FACTS.map(async (name) =>
        decodeRaw((await this.#directories.host.files.read(`/proc/${first}/${name}`, options)) ?? new Uint8Array()),
      ),
    );
    // Another process may have that number here, when the engine's processes have numbers of their own.
    if (/^NSpid:.*\s1$/m.test(status)) return [status, map, mounts];
    const { stream } = await this.#engine.exec(
      container.Id,
      { Cmd: ['/bin/sh', '-c', READ_FACTS], AttachStdout: true, AttachStderr: true, WorkingDir: '/' },
      options,
    );
    let text = '';
    for await (const { type, bytes } of outputFrames(stream))
      if (type === 'stdout-data') text = (text + decodeRaw(bytes)).slice(0, 65_536);
    stream.destroy(); // the engine has ended its side alone
    const [toldStatus = '', toldMap = '', toldMounts = ''] = text.split('\u001e');
    return [toldStatus, toldMap, toldMounts];
  }
}

/** Files of a process in /proc. */
const FACTS = ['status', 'uid_map', 'mountinfo'] as const;
/** Prints those of the container's first process, by builtins alone. */
const READ_FACTS = `lb_cat() { while IFS= read -r lb_l; do printf '%s\\n' "$lb_l"; done <$1; }
${FACTS.map((name) => `lb_cat /proc/1/${name}`).join("; printf '\\036'; ")}`;
