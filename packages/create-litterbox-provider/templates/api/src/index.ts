import {
  type CallOptions,
  isLitterboxError,
  type ProbeReport,
  type ProgressOptions,
  type ProviderMachine,
  type ProviderTraits,
  type RemoveOptions,
  type RuntimeStatus,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { openFarHost } from '@litterbox/far-host';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { MachineShells } from './machine-shells.ts';
import { Service } from './service.ts';

/** Names of our machines begin with it; others of the same account are left alone. */
const PREFIX = 'litterbox-';
/** Where a machine keeps its sandbox. */
const DIRECTORY = '/var/lib/litterbox';

const TRAITS: ProviderTraits = {
  isolation: 'vm',
  limits: ['memoryBytes', 'cpus', 'processes', 'openFiles'],
  workdir: '/src',
  roots: ['machine'],
  keeps: 'nothing',
};

/**
 * A machine of the service for each sandbox. In the machine the sandbox is one of namespaces, so that every control holds whatever the
 * service gives, and is read back. `MACHINES_URL` and `MACHINES_TOKEN` say where the service is. Does nothing until it is asked.
 */
export function provider({ key = '{{name}}', host }: ProviderMachine): SandboxProvider {
  const { MACHINES_URL: url = 'http://127.0.0.1:7070', MACHINES_TOKEN: token = '' } = host.environment;
  return new MachineProvider(key, new Service({ url, token, provider: key }));
}

class MachineProvider implements SandboxProvider {
  readonly name: string;
  readonly traits = TRAITS;
  readonly #service: Service;
  /** What makes the sandbox in its machine, by the sandbox's id. */
  readonly #inner = new Map<SandboxId, Promise<SandboxProvider>>();

  constructor(name: string, service: Service) {
    this.name = name;
    this.#service = service;
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    try {
      const { length } = await this.#service.list(call);
      return {
        usable: true,
        checks: [{ name: 'service', status: 'ok', finding: `it answers, with ${length} machines` }],
      };
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      const remedy = error.details.hint ?? 'Check MACHINES_URL and MACHINES_TOKEN.';
      return { usable: false, checks: [{ name: 'service', status: 'failed', finding: error.message, remedy }] };
    }
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    this.#refuse(spec);
    try {
      await this.#service.make({ name: `${PREFIX}${spec.id}`, ...spec.limits }, options);
      return await (await this.#open(spec.id, options)).create(spec, options);
    } catch (error) {
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.remove(spec.id).catch(() => {});
      throw error;
    }
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    return await (await this.#open(id, call)).open(id, call);
  }

  async *list(call?: CallOptions): AsyncIterable<RuntimeStatus> {
    const machines = await this.#service.list(call);
    const ours = machines.filter(({ name }) => name.startsWith(PREFIX));
    const ids = ours.map(({ name }) => name.slice(PREFIX.length)).filter(SandboxId.is);
    yield* await Promise.all(ids.map((id) => this.#status(id, call)));
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    await this.#forget(id);
    await this.#service.end(`${PREFIX}${id}`, options?.signal && { signal: options.signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#inner.keys()].map((id) => this.#forget(id)));
  }

  async #status(id: SandboxId, call?: CallOptions): Promise<RuntimeStatus> {
    try {
      for await (const status of (await this.#open(id, call)).list(call)) if (status.id === id) return status;
      return { id, state: 'broken' }; // whoever made it was killed
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return { id, state: isLitterboxError(error, 'NOT_FOUND') ? 'broken' : 'unreachable' };
    }
  }

  #refuse({ id, root, strategy, playground, limits, ...rest }: SandboxSpec): void {
    const { isInstaller, copyOf, artefacts, live } = rest;
    const others = Object.keys(limits).filter((limit) => !TRAITS.limits.some((one) => one === limit));
    const asked = { strategy, isInstaller, copyOf, artefacts, live, limit: others[0] };
    const wrong = [
      ...Object.entries(asked).flatMap(([what, value]) => (value ? [what] : [])),
      ...(root.type === 'machine' ? [] : [`a root that is a ${root.type}`]),
      ...(playground === id ? [] : ['a playground that several sandboxes share']),
    ];
    if (wrong[0] !== undefined) throw cannotHonour(this.name, wrong[0], 'Leave it out, or use another provider.');
  }

  #open(id: SandboxId, call?: CallOptions): Promise<SandboxProvider> {
    const known = this.#inner.get(id) ?? this.#connect(id, call);
    this.#inner.set(id, known);
    known.catch(() => this.#inner.get(id) === known && this.#inner.delete(id));
    return known;
  }

  async #connect(id: SandboxId, call?: CallOptions): Promise<SandboxProvider> {
    const name = `${PREFIX}${id}`;
    const host = await openFarHost({ name, connect: async () => new MachineShells(this.#service, name) }, call);
    const inner = overlayfs({ key: this.name, host, facts: await host.facts(call), directory: DIRECTORY });
    const close = inner[Symbol.asyncDispose].bind(inner);
    return Object.assign(inner, {
      [Symbol.asyncDispose]: async () => {
        await close();
        await host[Symbol.asyncDispose]();
      },
    });
  }

  async #forget(id: SandboxId): Promise<void> {
    const inner = await this.#inner.get(id)?.catch(() => undefined);
    this.#inner.delete(id);
    await inner?.[Symbol.asyncDispose]();
  }
}
