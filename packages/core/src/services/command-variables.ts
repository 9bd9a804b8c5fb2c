import { GATE_PORT } from '../domain/sandbox/gate-port.ts';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { endpointVariables, setupEndpoints } from './endpoint-variables.ts';
import { portVariables } from './port-variables.ts';

const PROXY = `http://127.0.0.1:${GATE_PORT}`;
/**
 * What is inside is not asked for through the proxy, which would refuse it: every name and address of the sandbox itself. Programs differ in
 * what they understand of a name, an address or a range. (Not `[::1]`: httpx of Python fails over it.)
 */
const NEAR = 'localhost,.localhost,sandbox,127.0.0.1,127.0.0.0/8,0.0.0.0,::1';

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

/**
 * Without a network package managers fail at once instead of trying again for a minute.
 *
 * @see https://docs.npmjs.com/cli/v11/using-npm/config#fetch-retries (pnpm and Yarn 1 read it too)
 * @see https://pip.pypa.io/en/stable/cli/pip/#cmdoption-retries
 * @see https://docs.astral.sh/uv/reference/environment/#uv_http_retries
 * @see https://doc.rust-lang.org/cargo/reference/config.html#netretry
 * @see https://yarnpkg.com/configuration/yarnrc#httpRetry
 * @see https://bundler.io/man/bundle-config.1.html
 */
const OFFLINE_VARIABLES: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  YARN_HTTP_RETRY: '0',
  BUNDLE_RETRY: '0',
};

/** What a command gets on top of the runtime's own environment. */
export function commandVariables(
  record: Pick<SandboxRecord, 'ports' | 'policy'>,
  phase: 'setup' | 'run',
): Readonly<Record<string, string>> {
  const { network, environment, limits, endpoints } = record.policy;
  const { memoryBytes, cpus } = limits;
  const isOpen = network[phase] !== 'none';
  return {
    ...(isOpen ? NETWORK_VARIABLES : without(OFFLINE_VARIABLES, environment)),
    ...portVariables(record),
    ...endpointVariables(phase === 'run' ? (endpoints ?? []) : setupEndpoints(record.policy)),
    // Programs that look at the machine's memory see all of it.
    ...(memoryBytes !== undefined && { LITTERBOX_MEMORY_BYTES: `${memoryBytes}` }),
    ...(cpus !== undefined && { LITTERBOX_CPUS: `${cpus}` }),
  };
}

/** Those that the person did not set themselves. */
function without(
  variables: Readonly<Record<string, string>>,
  set: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !Object.hasOwn(set, name)));
}
