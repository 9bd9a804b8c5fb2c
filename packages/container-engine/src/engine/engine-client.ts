import type Docker from 'dockerode';
import { type CallOptions, type Host, LitterboxError, type ProviderKey, advice, step } from '@litterbox/core/provider';
import { connectEngine } from '../address/connect-engine.ts';
import { type EngineAddress, showAddress } from '../address/engine-address.ts';
import type { OpenMachine } from '../address/open-machine.ts';
import type { OpenedMachines } from '../address/opened-machines.ts';

/** How an engine is found and reached. */
export interface EngineWay {
  readonly provider: ProviderKey;
  readonly host: Host;
  /** Where the engine listens; called once, when the engine is first needed. */
  findEngine(options?: CallOptions): Promise<EngineAddress>;
  /** Absolute path of the engine's socket on another machine, where its address does not say. */
  findSocketThere(machine: Host, options?: CallOptions): Promise<string>;
  /** @defaultValue engines on other machines are refused */
  readonly openMachine?: OpenMachine | undefined;
}

/** What an engine is asked with. */
export interface EngineClient {
  readonly docker: Docker;
  readonly address: EngineAddress;
  /** Ends the connections that nobody uses. */
  closeIdle(): void;
  /** Gives up connections that are being made. */
  giveUp(): void;
}

/** Loads the client of an engine and finds where that is. @throws LitterboxError of the search, and of the login on its machine */
export async function openClient(
  way: EngineWay,
  machines: OpenedMachines,
  options?: CallOptions,
): Promise<EngineClient> {
  const address = await way.findEngine(options);
  const [{ Dockerode }, { HostAgent }] = await Promise.all([import('./docker-client.ts'), import('./host-agent.ts')]);
  const connect =
    address.type === 'ssh' ? await overMachine(way, address, machines, options) : connectEngine(way.host, address);
  const agent = new HostAgent(connect);
  return {
    docker: withoutDockerHost(() => new Dockerode({ ...PLAIN, agent } as Docker.DockerOptions)),
    address,
    closeIdle: () => agent.closeIdle(),
    giveUp: () => agent.giveUp(),
  };
}

async function overMachine(
  way: EngineWay,
  address: Extract<EngineAddress, { type: 'ssh' }>,
  machines: OpenedMachines,
  options?: CallOptions,
) {
  const { openMachine, host, provider } = way;
  if (!openMachine)
    throw new LitterboxError(
      'UNSUPPORTED',
      `The engine of ${host.name} is at ${showAddress(address)}, and no machine is reached over SSH from there.`,
      {
        operation: 'engine.find',
        provider,
        hint: advice`Name that machine itself: ${step('host-add')}, then provider docker@NAME. A program of your own gives the provider openMachine.`,
      },
    );
  const machine = await machines.get(address, openMachine, options);
  const path = address.path ?? (await way.findSocketThere(machine, options));
  return connectEngine(machine, { type: 'unix', path });
}

/**
 * Host and port are what an HTTP client wants to hear; the agent connects. The rest overrides what docker-modem 5.0.6 takes from this
 * process's environment by itself.
 */
const PLAIN = {
  protocol: 'http',
  host: 'localhost',
  port: 80,
  pathPrefix: '/',
  key: undefined,
  cert: undefined,
  ca: undefined,
  timeout: undefined,
} as const;

/** docker-modem 5.0.6 reads DOCKER_HOST and the files of DOCKER_CERT_PATH in its constructor, whatever it is given, and throws where there are none. */
function withoutDockerHost<Made>(make: () => Made): Made {
  const { DOCKER_HOST: before } = process.env;
  if (before === undefined) return make();
  delete process.env['DOCKER_HOST'];
  try {
    return make();
  } finally {
    process.env['DOCKER_HOST'] = before;
  }
}
