import type { EndpointBudget } from '../../domain/secrets/endpoint-policy.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { type EndpointUsage, newUsage, usageOf } from '../network/endpoint-usage.ts';

/** Spending at one endpoint, over all sessions of a sandbox. */
export interface ShownUsage extends Readonly<EndpointUsage> {
  /** Its name. */
  readonly endpoint: string;
  /** Most that may be spent. Absent: no bound but that of the key. */
  readonly budget?: EndpointBudget;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly audit: AuditLog;
}

/** Tells how much a sandbox has spent at its endpoints. */
export class ReadUsage {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async read(name: string, options?: CallOptions): Promise<readonly ShownUsage[]> {
    const { findSandbox, audit } = this.#needs;
    const { id: sandbox, repositoryId, policy } = await findSandbox.find(name, options);
    const sums = await usageOf(audit, { sandbox, repositoryId });
    return (policy.endpoints ?? []).map(({ name: endpoint, budget }) => ({
      endpoint,
      ...(sums.get(endpoint) ?? newUsage()),
      ...(budget && { budget }),
    }));
  }
}
