import { type CallOptions, type Host, LitterboxError, SandboxId, shown } from '@litterbox/core/provider';
import { object, text } from './untrusted.ts';
import type { KubeContext } from './kube-config.ts';

/** Where a sandbox was made, as this machine noted it. */
type Place = Pick<KubeContext, 'name' | 'namespace' | 'server'>;

/**
 * Notes on this machine of the cluster and the namespace that each sandbox was made in. The current context of a kubeconfig is changed every
 * day: a sandbox of another cluster is not missing, and must be neither forgotten nor built a second time.
 */
export class SandboxPlaces {
  readonly #provider: string;
  readonly #files: Host['files'];
  readonly #directory: string;
  readonly #context: () => Promise<Place>;

  constructor(provider: string, host: Host, directory: string, context: () => Promise<Place>) {
    this.#provider = provider;
    this.#files = host.files;
    this.#directory = directory;
    this.#context = context;
  }

  /** Notes that the sandbox is where the kubeconfig leads now. @throws LitterboxError as {@link assertHere} */
  async note(id: SandboxId, options?: CallOptions): Promise<void> {
    await this.assertHere(id, options);
    const { name, namespace, server } = await this.#context();
    await this.#files.makeDirectory(this.#directory, { ...options, mode: 0o700 });
    await this.#files.write(
      `${this.#directory}/${id}`,
      new TextEncoder().encode(JSON.stringify({ name, namespace, server })),
      options,
    );
  }

  async forget(id: SandboxId): Promise<void> {
    await this.#files.remove(`${this.#directory}/${id}`).catch(() => {});
  }

  /**
   * @param isThere looks for it all the same, for a cluster whose address and name are others than they were. @defaultValue it is not
   * @throws LitterboxError `UNAVAILABLE` where the sandbox was made in another cluster or namespace than the kubeconfig leads to
   */
  async assertHere(id: SandboxId, options?: CallOptions, isThere?: () => Promise<boolean>): Promise<void> {
    const elsewhere = await this.#elsewhere(id, options);
    if (!elsewhere || (await isThere?.())) return;
    const { name, namespace } = await this.#context();
    const nameOf = (one: Pick<Place, 'name' | 'namespace'>) =>
      `the namespace ${shown(one.namespace)} of the context ${shown(one.name)}`;
    throw new LitterboxError(
      'UNAVAILABLE',
      `The sandbox ${id} is in ${nameOf(elsewhere)}; the kubeconfig leads to ${nameOf({ name, namespace })} now.`,
      {
        operation: 'provider.open',
        provider: this.#provider,
        hint: `Nothing of it was changed. Go back: kubectl config ${elsewhere.name === name ? `set-context ${shown(name)} --namespace ${shown(elsewhere.namespace)}` : `use-context ${shown(elsewhere.name)}`}.`,
      },
    );
  }

  /** The sandboxes that are elsewhere, but for those that were seen here. */
  async *elsewhere(seen: ReadonlySet<SandboxId>, options?: CallOptions): AsyncGenerator<SandboxId, void, undefined> {
    for (const { name } of (await this.#files.list(this.#directory, options)) ?? [])
      if (SandboxId.is(name) && !seen.has(name) && (await this.#elsewhere(name, options))) yield name;
  }

  /** A server may get another address and a context another name: only where both are others is it another cluster. */
  async #elsewhere(id: SandboxId, options?: CallOptions): Promise<Place | undefined> {
    const noted = placeOf(await this.#files.read(`${this.#directory}/${id}`, options));
    if (!noted) return undefined;
    const now = await this.#context();
    const isHere = noted.namespace === now.namespace && (noted.server === now.server || noted.name === now.name);
    return isHere ? undefined : noted;
  }
}

/** Undefined for a file that says nothing. */
function placeOf(bytes: Uint8Array | undefined): Place | undefined {
  try {
    const { name, namespace, server } = object(JSON.parse(new TextDecoder().decode(bytes)));
    return { name: text(name), namespace: text(namespace), server: text(server) };
  } catch {
    return undefined;
  }
}
