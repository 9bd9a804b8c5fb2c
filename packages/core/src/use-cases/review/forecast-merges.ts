import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import type { OpenRepository } from '../common/open-repository.ts';

/** A conflict that is to be expected, by names. */
export interface ForecastLine {
  readonly sandbox: string;
  /** The other sandbox; absent where it is the branch that is checked out. */
  readonly other?: string;
  readonly paths: readonly string[];
}

/** Which merges will conflict. */
export interface MergeForecast {
  /** Those with the branch first. */
  readonly conflicts: readonly ForecastLine[];
  /** Names of the sandboxes that were compared, the oldest first. */
  readonly compared: readonly string[];
  /** How many sandboxes were left out, and how many pairs were not tried, because there were too many. */
  readonly leftOut: number;
  readonly untried: number;
}

/** Sandboxes that are compared at most. */
const MAX_SANDBOXES = 40;

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
}

/** Says which sandboxes conflict with the branch and with each other, by what is recorded of them. No runtime is asked. */
export class ForecastMerges {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `UNBORN_HEAD` */
  async forecast(options?: CallOptions): Promise<MergeForecast> {
    const repository = await this.#needs.openRepository.open(options);
    const records = await this.#needs.state.list(repository.id, options);
    const made = records.filter(({ state }) => state !== 'creating' && state !== 'deleting');
    const compared = made.slice(-MAX_SANDBOXES);
    const names = new Map<SandboxId, string>(compared.map(({ id, slug }) => [id, slug]));
    const { conflicts, untried } = await repository.forecast([...names.keys()], options);
    return {
      conflicts: conflicts.map(({ sandbox, other, paths }) => ({
        sandbox: names.get(sandbox) ?? sandbox,
        ...(other !== undefined && { other: names.get(other) ?? other }),
        paths,
      })),
      compared: [...names.values()],
      leftOut: made.length - compared.length,
      untried,
    };
  }
}
