import { type SandboxProvider, type SandboxRuntime, type SandboxSpec } from '@litterbox/core/provider';

/** The sandbox that several tests of a group use; made for the first of them. */
export class SharedSandbox implements AsyncDisposable {
  readonly #open: () => Promise<SandboxProvider>;
  readonly #spec: (provider: SandboxProvider) => SandboxSpec;
  #made: { readonly provider: SandboxProvider; readonly spec: SandboxSpec; runtime?: SandboxRuntime } | undefined;

  constructor(open: () => Promise<SandboxProvider>, spec: (provider: SandboxProvider) => SandboxSpec) {
    this.#open = open;
    this.#spec = spec;
  }

  async runtime(): Promise<SandboxRuntime> {
    if (this.#made?.runtime) return this.#made.runtime;
    const provider = await this.#open();
    const spec = this.#spec(provider);
    this.#made = { provider, spec };
    const runtime = await provider.create(spec);
    this.#made.runtime = runtime;
    return runtime;
  }

  /** Removes it; whoever asks next gets a new one. */
  async [Symbol.asyncDispose](): Promise<void> {
    const made = this.#made;
    this.#made = undefined;
    if (!made) return;
    await made.runtime?.[Symbol.asyncDispose]();
    await made.provider.remove(made.spec.id);
    await made.provider[Symbol.asyncDispose]();
  }
}
