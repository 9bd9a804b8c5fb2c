import type Docker from 'dockerode';
import { allowedProcessors, isObjectOf, parseProcessors } from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  decodeRaw,
  type Host,
  isLitterboxError,
  LitterboxError,
  type ProbeCheck,
  visibleName,
} from '@litterbox/core/provider';
import { type EngineAddress, isElsewhere, showAddress } from '../address/engine-address.ts';
import { type Engine, PRESENCE_MS } from './engine.ts';
import { noAnswer } from './invalid-answer.ts';
import { ping } from './ping.ts';

/** What one look at an engine tells. */
export interface EngineFacts {
  readonly version: string;
  readonly runtime: string;
  /** As `uname -m` says. */
  readonly architecture: string;
  readonly isRootless: boolean;
  /** Ceilings this engine can enforce here. */
  readonly enforced: { readonly memory: boolean; readonly cpus: boolean; readonly processes: boolean };
  /** Numbers of the processors of its machine; none when they are not known. Absent in what an earlier release remembered. */
  readonly processors?: readonly number[];
  /** Whether it can keep a container on some of them. */
  readonly hasProcessorSets?: boolean;
  readonly cgroupVersion: string;
  /** Whether it can freeze what runs in a container: with version 1 a control group takes root. */
  readonly canPause: boolean;
  readonly hasSeccomp: boolean;
  /** Which engine it is, the same at each look: what it calls itself, or its machine's name, and its directory there. */
  readonly identity: string;
  /** Where it keeps its containers, by its own word: an engine that says another path is another one. Empty where it says none. */
  readonly rootDirectory: string;
  /**
   * Runs on another machine, or in a virtual one of its own. What that shares of the host's files it shares through a protocol on which
   * no layers can lie.
   */
  readonly isElsewhere: boolean;
  readonly checks: readonly ProbeCheck[];
}

/** @see https://docs.docker.com/reference/api/engine/version-history/ the oldest with what is used here, Docker 20.10 */
const MINIMUM_API = '1.41';

interface EngineInfo {
  readonly ID?: string;
  readonly KernelVersion?: string;
  readonly ServerVersion?: string;
  readonly OSType?: string;
  readonly Architecture?: string;
  readonly DefaultRuntime?: string;
  readonly SecurityOptions?: readonly string[];
  readonly MemoryLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly CPUCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly CPUSet?: boolean;
  readonly NCPU?: number;
  readonly CgroupVersion?: string;
  readonly Rootless?: boolean;
  readonly Name?: string;
  readonly DockerRootDir?: string;
  readonly OperatingSystem?: string;
}

interface OwnInfo {
  readonly host?: { readonly cgroupControllers?: readonly string[] | null };
}

export interface EngineSurvey {
  readonly host: Host;
  /** Where the engine tells in its own words which controllers its containers get, if Docker's are not right. */
  readonly ownInfo?: string | undefined;
  /** Whether the engine tells the same `ID` each time; Podman makes up another one for each answer. */
  readonly hasIdentity: boolean;
  /** A file of the provider's own in which looks are kept for later programs, and how long one is believed; absent where a look costs nothing. */
  readonly memory?: { readonly file: string; readonly forMs: number };
}

/** Looks once; changes nothing. @throws LitterboxError `UNAVAILABLE` when the engine cannot be reached. */
export async function readEngine(
  engine: Engine,
  { host, ownInfo, hasIdentity }: EngineSurvey,
  call?: CallOptions,
): Promise<EngineFacts> {
  const { provider, title } = engine;
  // One question, and its path asks for the version too: for each answer Podman looks up its programs among the machine's packages.
  // An engine that is not there shows by the ping, at once.
  const presence = { ...call, limitMs: PRESENCE_MS };
  const [address, info, hostFacts, status] = await Promise.all([
    engine.address(call),
    engine
      .ask('engine.info', (docker, signal) => got<EngineInfo>(docker, `/v${MINIMUM_API}/info`, signal), call)
      .catch((error: unknown) => {
        if (!isLitterboxError(error, 'UNAVAILABLE') || error.details.facts?.['statusCode'] !== 400) throw error;
        throw new LitterboxError(
          'UNAVAILABLE',
          `${title} does not speak version ${MINIMUM_API} of its API: ${error.message}`,
          { operation: 'engine.info', provider, hint: `Update ${title}.` },
          { cause: error },
        );
      }),
    host.facts(call),
    host.files.read('/proc/self/status', call),
    engine.ask('engine.ping', ping, presence),
  ]);
  if (!isInfo(info)) throw noAnswer(engine, 'engine.info', 'itself');
  if (info.OSType !== undefined && info.OSType !== '' && info.OSType !== 'linux')
    throw new LitterboxError('UNSUPPORTED', `${title} runs ${info.OSType} containers; Linux containers are needed.`, {
      operation: 'engine.info',
      provider,
      hint: `Switch ${title} to Linux containers.`,
    });
  const options = info.SecurityOptions ?? [];
  // Docker tells it as an option, Podman as a member of its own.
  const isRootless = info.Rootless === true || options.some((option) => option.includes('rootless'));
  const cgroupVersion = info.CgroupVersion ?? '1';
  const controllers =
    cgroupVersion === '2' && ownInfo !== undefined ? await controllersOf(engine, ownInfo, call) : undefined;
  const enforced = enforcedBy(info, controllers);
  const hasSeccomp = options.some((option) => option.includes('seccomp'));
  const checks = checksOf(title, info, address, { isRootless, cgroupVersion, enforced, hasSeccomp });
  const hasOtherKernel =
    info.KernelVersion !== undefined && asEnginesWrite(info.KernelVersion) !== asEnginesWrite(hostFacts.kernelRelease);
  const isFar = isElsewhere(address) || hostFacts.platform !== 'linux' || hasOtherKernel;
  return {
    version: info.ServerVersion ?? 'unknown',
    runtime: info.DefaultRuntime ?? 'unknown',
    architecture: info.Architecture ?? hostFacts.architecture,
    isRootless,
    enforced,
    cgroupVersion,
    canPause: !isRootless || cgroupVersion !== '1',
    hasSeccomp,
    identity: identityOf(info, hasIdentity, isFar),
    rootDirectory: info.DockerRootDir ?? '',
    isElsewhere: isFar || info.OperatingSystem === 'Docker Desktop',
    processors: isFar
      ? parseProcessors(`0-${(info.NCPU ?? 0) - 1}`)
      : allowedProcessors(decodeRaw(status ?? new Uint8Array())),
    // With version 1 Podman says so of the machine, also where it may make no groups.
    hasProcessorSets:
      controllers?.includes('cpuset') ?? (info.CPUSet === true && !(isRootless && cgroupVersion === '1')),
    checks,
  };
}

/** The limits that the engine can set, in its own words or by its controllers. */
function enforcedBy(info: EngineInfo, controllers: readonly string[] | undefined): EngineFacts['enforced'] {
  return controllers
    ? {
        memory: controllers.includes('memory'),
        cpus: controllers.includes('cpu'),
        processes: controllers.includes('pids'),
      }
    : {
        memory: info.MemoryLimit === true,
        cpus: (info.CpuCfsQuota ?? info.CPUCfsQuota) === true,
        processes: info.PidsLimit === true,
      };
}

function checksOf(
  title: string,
  info: EngineInfo,
  address: EngineAddress,
  {
    isRootless,
    cgroupVersion,
    enforced,
    hasSeccomp,
  }: Pick<EngineFacts, 'isRootless' | 'cgroupVersion' | 'enforced' | 'hasSeccomp'>,
): readonly ProbeCheck[] {
  const lacking = Object.entries(enforced).flatMap(([name, isEnforced]) => (isEnforced ? [] : [name]));
  return [
    {
      name: 'engine',
      status: 'ok',
      finding: `${title} ${info.ServerVersion ?? 'of an unknown version'}, runtime ${info.DefaultRuntime ?? 'unknown'}${isRootless ? ', rootless' : ''}${address.type === 'unix' ? '' : `, at ${showAddress(address)}`}`,
    },
    ...(address.type === 'tcp' && !address.tls ? [OPEN_PORT] : []),
    lacking.length === 0
      ? {
          name: 'limits',
          status: 'ok',
          finding: `memory, processors and processes can be limited (control groups version ${cgroupVersion})`,
        }
      : {
          name: 'limits',
          status: 'warning',
          finding: `${title} cannot limit ${lacking.join(', ')} here`,
          remedy: isRootless
            ? 'Use a machine with control groups version 2 and delegation to your user, or the rootful engine.'
            : 'Enable these controllers in the kernel.',
        },
    hasSeccomp
      ? { name: 'system-calls', status: 'ok', finding: 'system calls can be filtered' }
      : {
          name: 'system-calls',
          status: 'failed',
          finding: `${title} was built without seccomp`,
          remedy: `Install ${title} with seccomp support.`,
        },
  ];
}

const TEXTS = [
  'ID',
  'KernelVersion',
  'ServerVersion',
  'OSType',
  'Architecture',
  'DefaultRuntime',
  'CgroupVersion',
  'Name',
  'DockerRootDir',
  'OperatingSystem',
] as const satisfies (keyof EngineInfo)[];
/** No engine says more of itself in one of them. */
const MAX_TEXT_CHARACTERS = 1000;

/** Whether what tells of an engine has the types that it is read as, with nothing in its texts that nobody sees. */
function isInfo(value: unknown): value is EngineInfo {
  if (!isObjectOf(value, () => true)) return false;
  const members = value as Readonly<Record<string, unknown>>;
  const { SecurityOptions: options, NCPU: processors } = members;
  const isText = (text: unknown) => typeof text === 'string' && text === visibleName(text, MAX_TEXT_CHARACTERS);
  return (
    TEXTS.every((name) => members[name] === undefined || isText(members[name])) &&
    (options === undefined || options === null || (Array.isArray(options) && options.every(isText))) &&
    (processors === undefined || (Number.isSafeInteger(processors) && Number(processors) < 2 ** 16))
  );
}

/**
 * Docker before release 23 has one ID for all engines of a machine, and machines that were made from one image have one ID and one name. So
 * what is known of an engine counts on one side of the network alone.
 */
function identityOf(
  { ID = '', Name = '', DockerRootDir = '' }: EngineInfo,
  hasIdentity: boolean,
  isFar: boolean,
): string {
  return [hasIdentity && ID !== '' ? ID : Name, DockerRootDir, ...(isFar ? ['elsewhere'] : [])].join('\n');
}

/** A tunnel ends so, or an engine that listens for everybody here. */
const OPEN_PORT: ProbeCheck = {
  name: 'address',
  status: 'warning',
  finding:
    'the engine asks for no credentials on its port: every user and program of this machine that reaches it is root there',
  remedy: 'Let it listen on a Unix socket, use TLS with --tlsverify, or reach it over SSH.',
};

/** Docker writes three numbers of a kernel's release even where it has two. */
function asEnginesWrite(release: string): string {
  return release.replace(/^(\d+)\.(\d+)(?!\.?\d)/, '$1.$2.0');
}

/** None when the engine does not tell: what cannot be shown is not claimed. */
async function controllersOf(engine: Engine, path: string, options?: CallOptions): Promise<readonly string[]> {
  const answer = await engine.ask(
    'engine.info',
    (docker, signal) => got<OwnInfo | null>(docker, path, signal),
    options,
  );
  const controllers = answer?.host?.cgroupControllers;
  return Array.isArray(controllers) ? controllers : [];
}

/** Asks at a path that dockerode has no method for. */
async function got<Answer>(docker: Docker, path: string, abortSignal: AbortSignal): Promise<Answer> {
  return await new Promise<Answer>((resolve, reject) => {
    const options = { path, method: 'GET', statusCodes: { 200: true }, abortSignal };
    docker.modem.dial(options, (error, data) => (error ? reject(error) : resolve(data as Answer)));
  });
}
