import { LitterboxError } from '../domain/errors.ts';
import { shown } from '../domain/shown.ts';
import type { CallOptions } from '../ports/call.ts';
import type { SandboxRoot } from '../domain/sandbox-root.ts';
import type { ProbeReport, SandboxProvider } from '../ports/sandbox-provider.ts';

/** The provider that was asked for, or the first usable one that can do what was asked; the reasons of all refusals otherwise. */
export class ChooseProvider {
  readonly #providers: readonly SandboxProvider[];

  constructor(providers: readonly SandboxProvider[]) {
    this.#providers = providers;
  }

  get all(): readonly SandboxProvider[] {
    return this.#providers;
  }

  /** @param root what the sandbox is to have its programs from: where nobody names a provider, those that can are looked at */
  async execute(
    wanted: string | undefined,
    options?: CallOptions,
    root?: SandboxRoot['type'],
  ): Promise<SandboxProvider> {
    if (wanted !== undefined) {
      const named = this.#providers.find(({ name }) => name === wanted);
      if (named) return named;
      throw new LitterboxError('INVALID_ARGUMENT', `There is no provider ${shown(wanted)}.`, {
        operation: 'sandbox.create',
        hint: `There are: ${this.#providers.map(({ name }) => name).join(', ') || 'none'}.`,
      });
    }
    // With one provider there is nothing to choose, and `create` itself says what is missing.
    const able = this.#providers.filter(({ traits }) => root === undefined || traits.roots.includes(root));
    const providers = able.length > 0 ? able : this.#providers; // the policy says then what is not supported
    const [only] = providers;
    if (only && providers.length === 1) return only;
    const refusals: string[] = [];
    for (const provider of providers) {
      const report = await provider.probe(options);
      if (report.usable) return provider;
      refusals.push(`${provider.name}: ${refusalOf(report)}`);
    }
    throw new LitterboxError(
      'UNAVAILABLE',
      able.length === this.#providers.length
        ? 'No provider can be used on this machine.'
        : `No provider with a root of type ${root} can be used on this machine.`,
      {
        operation: 'sandbox.create',
        hint: refusals.join('; ') || 'Give createLitterbox a provider.',
      },
    );
  }
}

function refusalOf({ checks }: ProbeReport): string {
  return (
    checks
      .filter(({ status }) => status === 'failed')
      .map(({ finding, remedy }) => (remedy === undefined ? finding : `${finding} (${remedy})`))
      .join(', ') || 'it does not say why'
  );
}
