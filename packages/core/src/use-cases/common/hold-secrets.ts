import { HeldSecrets, NO_SECRETS } from '../../channel/held-secrets.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ExposedSecret } from '../../domain/secrets/exposed-secret.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { MIN_SECRET_CHARACTERS, type SecretSource } from '../../ports/person/secret-source.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

interface Needs {
  readonly secretSource: SecretSource;
}

/** Reads the secrets that the commands of a sandbox hold. Nothing writes them down. */
export class HoldSecrets {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * One after the other, since a person may be asked for each.
   *
   * @throws LitterboxError as the source's `read`, for the first that cannot be read; `UNSUPPORTED` for one that cannot be told from other text
   */
  async read({ policy }: Pick<SandboxRecord, 'policy'>, options?: CallOptions): Promise<HeldSecrets> {
    const held = [];
    for (const secret of policy.exposed ?? []) held.push({ ...secret, value: await this.#value(secret, options) });
    return held.length === 0 ? NO_SECRETS : new HeldSecrets(held);
  }

  async #value({ name, origin }: ExposedSecret, options?: CallOptions): Promise<string> {
    const value = await this.#needs.secretSource.read(origin, options);
    if (value.length >= MIN_SECRET_CHARACTERS) return value;
    throw new LitterboxError(
      'UNSUPPORTED',
      `The secret ${name} has fewer than ${MIN_SECRET_CHARACTERS} characters: what is printed could not be told from it.`,
      {
        operation: 'secret.hold',
        hint: 'Keep a longer one there.',
      },
    );
  }
}
