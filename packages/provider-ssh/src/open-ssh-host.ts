import { type CallOptions, LitterboxError } from '@litterbox/core/provider';
import { type FarHost, openFarHost } from '@litterbox/far-host';
import { type ClientHome, type Endpoint, resolveEndpoint } from './client-config.ts';
import { type Destination, parseDestination, showDestination } from './destination.ts';
import { type AskHostKey, type HostKey, HostKeyCheck } from './host-key.ts';
import { SshLink } from './ssh-link.ts';
import { SshTransport } from './ssh-transport.ts';

/** What {@link openSshHost} needs to know of a machine. */
export interface SshHostOptions {
  /** `[USER@]HOST[:PORT]`, where HOST may be one of `~/.ssh/config`. */
  readonly destination: string;
  /** Absolute path of a private key that is tried before all others. */
  readonly identityFile?: string;
  /** Keys of the machine that are known, besides those of known_hosts files. */
  readonly hostKeys?: readonly HostKey[];
  /** Is asked before a key is believed that nobody knows. @defaultValue it is refused */
  readonly askHostKey?: AskHostKey;
  /** Told what is passed over in the client's configuration. */
  readonly onNotice?: (notice: string) => void;
  /** Where the client's files are. */
  readonly client?: ClientHome;
  /** Sees where the destination leads before anything is sent, and throws where it may not lead. */
  readonly checkEndpoint?: (endpoint: Endpoint) => void;
}

/** A machine with more of them in between is a mistake, or a circle. */
const MAX_JUMPS = 8;

/** A machine that is reached over SSH. */
export interface SshHost extends FarHost {
  /** The keys that a person has said yes to while this was opened: worth keeping, or they are asked again. */
  readonly acceptedKeys: readonly HostKey[];
}

/**
 * Connects to a machine by SSH and makes it a host. Keys and the agent are used for the login alone, and are never forwarded.
 *
 * @throws LitterboxError `SSH_HOST_INVALID`; `SSH_HOSTKEY_UNKNOWN` and `SSH_HOSTKEY_CHANGED`, before anything was sent; `PERMISSION_DENIED`
 *   when no key is taken; `UNAVAILABLE`
 */
export async function openSshHost(options: SshHostOptions, call?: CallOptions): Promise<SshHost> {
  const destination = parseDestination(options.destination);
  const accepted: HostKey[] = [...(options.hostKeys ?? [])];
  const known = accepted.length;
  const chain = await endpointsOf(destination, options);
  const target = chain.at(-1) as Endpoint;
  options.checkEndpoint?.(target);
  const name = showDestination(target);
  for (const notice of new Set(chain.flatMap(({ notices }) => notices))) options.onNotice?.(notice);
  // The caller's signal is for the opening: a later login, after a loss, is another call's.
  let opening = call;
  const logIn = async () => {
    const { link, key } = await reach(chain, { ...options, hostKeys: accepted }, opening);
    opening = undefined;
    if (key) accepted.push(key);
    return link;
  };
  const host = await openFarHost({ name, connect: async () => new SshTransport(name, await logIn(), logIn) }, call);
  return Object.assign(host, { acceptedKeys: accepted.slice(known) });
}

/** The machines on the way, the one that is meant last. */
async function endpointsOf(destination: Destination, options: SshHostOptions): Promise<readonly Endpoint[]> {
  const target = await resolveEndpoint(destination, options.client);
  const { identityFile } = options;
  const own =
    identityFile === undefined ? target : { ...target, identityFiles: [identityFile, ...target.identityFiles] };
  if (target.jumps.length > MAX_JUMPS) throw tooManyJumps(destination);
  const jumps = await Promise.all(target.jumps.map((jump) => resolveEndpoint(jump, options.client)));
  return [...jumps, own];
}

/** Logs in on each machine of the way, over the one before it. */
async function reach(
  chain: readonly Endpoint[],
  options: SshHostOptions,
  call: CallOptions | undefined,
): Promise<{ readonly link: SshLink; readonly key: HostKey | undefined }> {
  const links: SshLink[] = [];
  try {
    for (const [index, endpoint] of chain.entries()) {
      const isTarget = index === chain.length - 1;
      const check = await HostKeyCheck.read(endpoint, isTarget ? (options.hostKeys ?? []) : [], options.askHostKey);
      const way = await links.at(-1)?.forward(endpoint.host, endpoint.port);
      const link = await SshLink.open(endpoint, check, way, call);
      links.push(link);
      if (isTarget) {
        // The machines in between are of no more use when this connection is gone.
        void link.ended.then(() => Promise.all(links.slice(0, -1).map((one) => one[Symbol.asyncDispose]())));
        return { link, key: check.accepted };
      }
    }
    throw new Error('a way has an end');
  } catch (error) {
    await Promise.all(links.map((one) => one[Symbol.asyncDispose]()));
    throw error;
  }
}

function tooManyJumps({ host }: Destination): LitterboxError {
  return new LitterboxError('SSH_HOST_INVALID', `${host} is reached over more than ${MAX_JUMPS} machines.`, {
    operation: 'host.connect',
    hint: 'Shorten its ProxyJump in ~/.ssh/config.',
  });
}
