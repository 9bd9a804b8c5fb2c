import { isLitterboxError } from '../../domain/errors/errors.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { currentRecord } from '../common/change-record.ts';
import { needsKeeper } from '../keeper/needs-keeper.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { isUp } from '../work/control-services.ts';

interface Needs {
  readonly state: StateStore;
  readonly openSandboxes: OpenSandboxes;
  readonly reachKeeper: ReachKeeper;
  readonly recordRevision: RecordRevision;
}

/** Starts the keeper of a new sandbox, where it needs one. */
export class StartKeeper {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Begins services, ports and network: a sandbox whose services do not come up is one all the same, to find out why. */
  async start(
    record: SandboxRecord,
    options?: ProgressOptions,
  ): Promise<{ readonly record: SandboxRecord; readonly warnings: readonly string[] }> {
    const { services = [] } = record.policy;
    if (!needsKeeper(record)) return { record, warnings: [] };
    if (services.length > 0) options?.onProgress?.({ step: 'services', message: 'Starting services' });
    try {
      const {
        services: started,
        network,
        endpoints,
      } = await this.#needs.reachKeeper.status(record, { verb: 'ready' }, options);
      const broken = started.filter((service) => !isUp(service));
      await using _lease = await this.#needs.state.lease(`sandbox:${record.id}`, 'create', options);
      let now = await currentRecord(this.#needs.state, record, options); // a number may have been taken meanwhile
      if (services.length > 0) {
        const message = revisionMessage({ tool: 'service', subject: 'start', sandbox: record.slug });
        ({ record: now } = await this.#needs.recordRevision.record(
          now,
          await this.#needs.openSandboxes.get(now, options),
          message,
          options,
        ));
      }
      return {
        record: now,
        warnings: [
          ...broken.map(({ name, state }) => `The service ${name} is ${state}; its log says why.`),
          ...(network?.reason === undefined ? [] : [`The network is not open: ${network.reason}`]),
          ...(endpoints?.reason === undefined ? [] : [`The endpoints are not open: ${endpoints.reason}`]),
        ],
      };
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      return { record, warnings: [`The services, ports and network are not up: ${error.message}`] };
    }
  }
}
