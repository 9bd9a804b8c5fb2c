import { LitterboxError } from '../../domain/errors/errors.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { EndpointGate } from '../../ports/network/endpoint-gate.ts';
import type { OpenPort } from '../../ports/common/open-port.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { SecretSource } from '../../ports/person/secret-source.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { EndpointLedger } from './endpoint-ledger.ts';

type Opening = Pick<SandboxRecord, 'id' | 'repositoryId' | 'provider' | 'policy'>;

interface Needs {
  readonly endpointGate: EndpointGate;
  readonly secretSource: SecretSource;
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** Opens the ways from a sandbox to the servers on which secrets are set, and writes down what goes there. */
export class OpenEndpoints {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Opens all endpoints of the policy, or none. No secret is read before a request comes.
   *
   * @throws LitterboxError `UNSUPPORTED` where the runtime cannot; `PORT_TAKEN` when a program inside has the number of one.
   */
  async open(record: Opening, runtime: SandboxRuntime, options?: CallOptions): Promise<OpenPort> {
    if (!runtime.listen) throw unsupported(record);
    const opened = new AsyncDisposableStack();
    const ports: OpenPort[] = [];
    try {
      for (const endpoint of record.policy.endpoints ?? []) {
        const gate = await this.#needs.endpointGate.open(endpoint, new EndpointLedger(record, endpoint, this.#needs));
        opened.use(gate);
        ports.push(opened.use(await runtime.listen(endpoint.inside, (stream) => void gate.serve(stream), options)));
      }
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
    return {
      ended: Promise.race(ports.map(({ ended }) => ended)),
      [Symbol.asyncDispose]: async () => await opened.disposeAsync(),
    };
  }

  /**
   * Opens and closes them once, and reads each secret: whoever makes a sandbox hears now of what its first request would miss.
   *
   * @throws LitterboxError as {@link open}, and for the first secret that cannot be used
   */
  async check(record: Opening, runtime: SandboxRuntime, options?: CallOptions): Promise<void> {
    for (const endpoint of record.policy.endpoints ?? [])
      await new EndpointLedger(record, endpoint, this.#needs).readSecret();
    await (await this.open(record, runtime, options))[Symbol.asyncDispose]();
  }
}

function unsupported({ provider }: Opening): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `endpoints is not supported (provider ${provider}).`, {
    operation: 'sandbox.create',
    provider,
    hint: 'Remove [endpoints], or use another provider.',
  });
}
