import { LitterboxError } from '../../domain/errors/errors.ts';
import { type ConfiguredSecret, originOf } from '../../domain/secrets/exposed-secret.ts';
import type { SecretOrigin } from '../../domain/secrets/secret-origin.ts';
import { shown } from '../../domain/text/shown.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SecretSource } from '../../ports/person/secret-source.ts';
import { audited } from '../common/audited.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { DecidePolicy } from './decide-policy.ts';

/** A secret that the configuration names, and where it is kept. */
export interface NamedSecret {
  readonly name: string;
  readonly origin: SecretOrigin;
  /** The variable in which commands hold it. Absent: none does. */
  readonly expose?: string;
}

/** A secret after somebody tried to read it. */
export interface CheckedSecret extends NamedSecret {
  /** Absent when it can be read. */
  readonly error?: LitterboxError;
}

interface Needs {
  readonly openRepository: OpenRepository;
  readonly decidePolicy: DecidePolicy;
  readonly secretSource: SecretSource;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** Tells which secrets the configuration names, and whether each can be read. No value leaves it. */
export class CheckSecrets {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** By name. Nothing is read, so nobody has to agree. */
  async list(options?: CallOptions): Promise<readonly NamedSecret[]> {
    const repository = await this.#needs.openRepository.open(options);
    const { config } = await this.#needs.decidePolicy.read(repository, options);
    return Object.entries(config.secrets)
      .map(namedSecret)
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /**
   * Reads each, one after the other, since a person may be asked for each.
   *
   * @param wanted the one to read. @defaultValue all
   * @throws LitterboxError `CONFIG_UNTRUSTED` when no person has agreed to the configuration: it chooses which secrets are read;
   *   `SECRET_NAME` when it names none like the wanted one
   */
  async check(wanted?: string, options?: CallOptions): Promise<readonly CheckedSecret[]> {
    const { openRepository, decidePolicy, audit, actor } = this.#needs;
    const repository = await openRepository.open(options);
    const { config } = await decidePolicy.readTrusted(repository, options);
    const named = Object.entries(config.secrets).sort(([left], [right]) => (left < right ? -1 : 1));
    const secrets = wanted === undefined ? named : named.filter(([name]) => name === wanted);
    if (wanted !== undefined && secrets.length === 0) throw unknown(wanted, named);
    return await audited(
      audit,
      {
        operation: 'secret-check',
        actor,
        repositoryId: repository.id,
        input: { names: secrets.map(([name]) => name) },
      },
      async () => {
        const checked: CheckedSecret[] = [];
        for (const secret of secrets) checked.push(await this.#checked(namedSecret(secret), options));
        return checked;
      },
      (checked) => ({ missing: checked.filter(({ error }) => error !== undefined).map(({ name }) => name) }),
    );
  }

  async #checked(secret: NamedSecret, options?: CallOptions): Promise<CheckedSecret> {
    try {
      await this.#needs.secretSource.read(secret.origin, options);
      return secret;
    } catch (error) {
      if (error instanceof LitterboxError) return { ...secret, error };
      throw error;
    }
  }
}

function namedSecret([name, secret]: readonly [name: string, secret: ConfiguredSecret]): NamedSecret {
  const { expose } = secret;
  return { name, origin: originOf(secret), ...(expose !== undefined && { expose }) };
}

function unknown(
  wanted: string,
  named: readonly (readonly [name: string, secret: ConfiguredSecret])[],
): LitterboxError {
  return new LitterboxError('SECRET_NAME', `The configuration names no secret ${shown(wanted)}.`, {
    operation: 'secret.check',
    hint:
      named.length === 0
        ? 'Add it below [secrets] in .litterbox.toml.'
        : `It names: ${named.map(([name]) => name).join(', ')}.`,
  });
}
