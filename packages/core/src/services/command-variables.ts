import { GATE_PORT } from '../domain/gate-port.ts';
import type { SandboxRecord } from '../ports/state-store.ts';
import { portVariables } from './port-variables.ts';

const PROXY = `http://127.0.0.1:${GATE_PORT}`;
/** What is inside is not asked for through the proxy, which would refuse it. */
const NEAR = 'localhost,127.0.0.1,::1';

/**
 * How programs find the way to the network. They only help: there is no other. Plain HTTP goes there too, to be told why it is
 * refused. Programs differ in the case they read; curl reads `http_proxy` alone. The last is Node's.
 *
 * @see https://everything.curl.dev/usingcurl/proxies/env.html
 * @see https://nodejs.org/api/cli.html#node_use_env_proxy1
 */
const NETWORK_VARIABLES: Readonly<Record<string, string>> = {
  HTTPS_PROXY: PROXY,
  https_proxy: PROXY,
  HTTP_PROXY: PROXY,
  http_proxy: PROXY,
  NO_PROXY: NEAR,
  no_proxy: NEAR,
  NODE_USE_ENV_PROXY: '1',
};

/** What a command gets on top of the runtime's own environment. */
export function commandVariables(
  record: Pick<SandboxRecord, 'ports' | 'policy'>,
  phase: 'setup' | 'run',
): Readonly<Record<string, string>> {
  const { memoryBytes, cpus } = record.policy.limits;
  return {
    ...(record.policy.network[phase] !== 'none' && NETWORK_VARIABLES),
    ...portVariables(record),
    // Programs that look at the machine's memory see all of it.
    ...(memoryBytes !== undefined && { LITTERBOX_MEMORY_BYTES: `${memoryBytes}` }),
    ...(cpus !== undefined && { LITTERBOX_CPUS: `${cpus}` }),
  };
}
