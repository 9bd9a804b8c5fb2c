import { type CallOptions, type Host, LitterboxError, type ProbeCheck } from '@litterbox/core/provider';
import { type Engine, PRESENCE_MS } from './engine.ts';

/** What one look at an engine tells. */
export interface EngineFacts {
  readonly version: string;
  readonly runtime: string;
  /** As `uname -m` says. */
  readonly architecture: string;
  readonly isRootless: boolean;
  /** Ceilings this engine can enforce here. */
  readonly enforced: { readonly memory: boolean; readonly cpus: boolean; readonly processes: boolean };
  readonly cgroupVersion: string;
  readonly hasSeccomp: boolean;
  readonly checks: readonly ProbeCheck[];
}

/** @see https://docs.docker.com/reference/api/engine/version-history/ the oldest with what is used here, Docker 20.10 */
const MINIMUM_API = [1, 41];

interface EngineInfo {
  readonly ServerVersion?: string;
  readonly OSType?: string;
  readonly Architecture?: string;
  readonly DefaultRuntime?: string;
  readonly SecurityOptions?: readonly string[];
  readonly MemoryLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly CPUCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly CgroupVersion?: string;
  readonly Rootless?: boolean;
}

interface OwnInfo {
  readonly host?: { readonly cgroupControllers?: readonly string[] | null };
}

export interface EngineSurvey {
  readonly host: Host;
  /** Where the engine tells in its own words which controllers its containers get, if Docker's are not right. */
  readonly ownInfo?: string | undefined;
}

/** Looks once; changes nothing. @throws LitterboxError `UNAVAILABLE` when the engine cannot be reached. */
export async function readEngine(
  engine: Engine,
  { host, ownInfo }: EngineSurvey,
  call?: CallOptions,
): Promise<EngineFacts> {
  // First what no disk is needed for: an engine that is not there shows at once.
  const presence = { ...call, limitMs: PRESENCE_MS };
  const version = await engine.ask('engine.version', async (docker) => docker.version(), presence);
  const [info, hostFacts] = await Promise.all([
    engine.ask('engine.info', async (docker) => (await docker.info()) as EngineInfo, call),
    host.facts(call),
  ]);
  const { provider, title } = engine;
  const { ApiVersion } = version;
  if (isOlder(ApiVersion, MINIMUM_API))
    throw new LitterboxError(
      'UNAVAILABLE',
      `${title} speaks API version ${ApiVersion}; ${MINIMUM_API.join('.')} or newer is needed.`,
      { operation: 'engine.version', provider, hint: `Update ${title}.` },
    );
  if (info.OSType !== undefined && info.OSType !== '' && info.OSType !== 'linux')
    throw new LitterboxError('UNSUPPORTED', `${title} runs ${info.OSType} containers; Linux containers are needed.`, {
      operation: 'engine.info',
      provider,
      hint: `Switch ${title} to Linux containers.`,
    });
  const options = info.SecurityOptions ?? [];
  // Docker tells it as an option, Podman as a member of its own.
  const isRootless = info.Rootless === true || options.some((option) => option.includes('rootless'));
  const controllers =
    info.CgroupVersion === '2' && ownInfo !== undefined ? await controllersOf(engine, ownInfo, call) : undefined;
  const enforced = controllers
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
  const lacking = Object.entries(enforced).flatMap(([name, isEnforced]) => (isEnforced ? [] : [name]));
  const hasSeccomp = options.some((option) => option.includes('seccomp'));
  const checks: ProbeCheck[] = [
    {
      name: 'engine',
      status: 'ok',
      finding: `${title} ${info.ServerVersion ?? version.Version}, API ${ApiVersion}, runtime ${info.DefaultRuntime ?? 'unknown'}${isRootless ? ', rootless' : ''}`,
    },
    lacking.length === 0
      ? {
          name: 'limits',
          status: 'ok',
          finding: `memory, processors and processes can be limited (control groups version ${info.CgroupVersion ?? '1'})`,
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
  return {
    version: info.ServerVersion ?? version.Version ?? 'unknown',
    runtime: info.DefaultRuntime ?? 'unknown',
    architecture: info.Architecture ?? hostFacts.architecture,
    isRootless,
    enforced,
    cgroupVersion: info.CgroupVersion ?? '1',
    hasSeccomp,
    checks,
  };
}

/** None when the engine does not tell: what cannot be shown is not claimed. */
async function controllersOf(engine: Engine, path: string, call?: CallOptions): Promise<readonly string[]> {
  const answer = await engine.ask(
    'engine.info',
    async (docker, abortSignal) =>
      await new Promise<OwnInfo | null>((resolve, reject) => {
        const options = { path, method: 'GET', statusCodes: { 200: true }, abortSignal };
        docker.modem.dial(options, (error, data) => (error ? reject(error) : resolve(data as OwnInfo | null)));
      }),
    call,
  );
  const controllers = answer?.host?.cgroupControllers;
  return Array.isArray(controllers) ? controllers : [];
}

function isOlder(version: string, minimum: readonly number[]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = minimum;
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
