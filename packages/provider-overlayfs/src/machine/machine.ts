import {
  type CallOptions,
  type Host,
  type HostFacts,
  LitterboxError,
  type ProbeCheck,
  type ProviderKey,
} from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';
import { type Cgroup, cgroupOf, type CgroupSurvey } from './cgroup.ts';
import { machineChecks } from './machine-checks.ts';
import { type LookedFor, ownScope, surveyScript } from './survey-script.ts';
import { type ProgramLink, type ToolDirectory, toolDirectoriesOf } from './tool-directories.ts';

/** A host, as one look at it found it. */
export interface Machine {
  /** What looked, as errors name it. */
  readonly provider: ProviderKey;
  readonly facts: HostFacts;
  /** Started by root: the sandbox's processes get an unprivileged user of their own before anything else. */
  readonly isRoot: boolean;
  readonly bwrapVersion: string;
  /** Undefined when limits cannot be enforced by this user here. */
  readonly cgroup: Cgroup | undefined;
  /** What has to stand before a program that is to enter groups below {@link cgroup}; absent where any may. */
  readonly scope?: readonly [string, ...string[]];
  /** Whether a sandbox can have a disk of its own, which is what bounds it. */
  readonly canMakeDisks: boolean;
  /** Why nothing bounds the speed of the disk; absent where a control group does. */
  readonly withoutDiskSpeed?: string;
  /** The most open descriptors a process started here can be given. */
  readonly maxOpenFiles: number;
  readonly toolDirectories: readonly ToolDirectory[];
  /** Programs in PATH that lead where a sandbox does not see. */
  readonly unreachable: readonly ProgramLink[];
  /** First components below `/` that are links into /usr (`bin`, `lib64`), with their targets, and those that are directories. */
  readonly rootLinks: readonly (readonly [name: string, target: string])[];
  readonly rootDirectories: readonly string[];
  /** The filter of system calls that the look was to look for is there. */
  readonly hasFilter: boolean;
  /** The file at the path of the session program; undefined where nothing is. */
  readonly program: FoundProgram | undefined;
  readonly checks: readonly ProbeCheck[];
}

/** A file, as the machine tells of it. */
export interface FoundProgram {
  readonly isFile: boolean;
  readonly uid: number;
  /** The permission bits. */
  readonly mode: number;
  readonly sizeBytes: number;
}

/**
 * Looks once; changes nothing.
 *
 * @param lookedFor what to look for on the way
 */
export async function readMachine(
  host: Host,
  facts: HostFacts,
  provider: ProviderKey,
  lookedFor: LookedFor,
  options?: CallOptions,
): Promise<Machine> {
  assertLinux(host, facts, provider);
  const report = new SurveyReport((await runScript(host, surveyScript(facts, lookedFor), options)).stdout);
  const isRoot = facts.uid === 0;
  const tools = toolDirectoriesOf(facts, {
    realPaths: new Map(report.pairs('path', '\n')),
    managers: report.all('tool-root'),
    links: report.pairs('link', '\n').map(([path, target]) => ({ path, target })),
    parts: report.all('part'),
    environments: report.all('environment'),
    libraries: report.all('library'),
  });
  const survey: CgroupSurvey = {
    isRoot,
    uid: facts.uid,
    mounts: report.one('cgroup-mounts'),
    own: report.one('cgroup-own'),
    writable: report.all('cgroup-writable'),
  };
  const cgroup = cgroupOf(survey);
  const canMakeDisks = isRoot && report.isYes('disks');
  return {
    provider,
    facts,
    isRoot,
    maxOpenFiles: Number(report.one('open-files')) || Number.POSITIVE_INFINITY,
    bwrapVersion: report.one('bwrap').replace(/^bubblewrap /, ''),
    cgroup,
    ...(report.isYes('scope') && { scope: ownScope(facts.uid) }),
    canMakeDisks,
    ...withoutDiskSpeed(cgroup, isRoot, report.one('controllers')),
    hasFilter: report.isYes('filter'),
    program: programOf(report.one('program')),
    toolDirectories: tools.directories,
    unreachable: tools.unreachable,
    rootLinks: report.pairs('root-link', ' '),
    rootDirectories: report.all('root-directory'),
    checks: machineChecks({
      facts,
      missing: report.all('missing'),
      bwrap: report.one('bwrap'),
      isSetuid: report.isYes('bwrap-setuid'),
      gnuFind: report.one('find'),
      userns: report.one('userns'),
      apparmor: report.one('apparmor'),
      cgroup,
      survey,
      canMakeDisks,
    }),
  };
}

/** Lines of the survey, each a key and its text. */
class SurveyReport {
  readonly #lines: readonly string[];

  constructor(stdout: string) {
    this.#lines = stdout.split('\0').filter((line) => line !== '');
  }

  all(key: string): readonly string[] {
    return this.#lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  }

  one(key: string): string {
    return this.all(key)[0] ?? '';
  }

  isYes(key: string): boolean {
    return this.one(key) === 'yes';
  }

  /** Texts of two parts. */
  pairs(key: string, between: string): readonly (readonly [string, string])[] {
    return this.all(key).map((line) => {
      const at = line.indexOf(between);
      return [line.slice(0, at), line.slice(at + 1)];
    });
  }
}

/** @throws LitterboxError `UNSUPPORTED`, with what brings Linux to such a machine. */
function assertLinux(host: Host, facts: HostFacts, provider: ProviderKey): void {
  if (facts.platform === 'linux') return;
  throw new LitterboxError('UNSUPPORTED', `Copy-on-write sandboxes need Linux; ${host.name} runs ${facts.platform}.`, {
    operation: 'provider.probe',
    provider,
    hint:
      facts.platform === 'darwin'
        ? 'Set up a Linux machine once: brew install lima && limactl start. Or name one over SSH, or use a container provider.'
        : facts.platform === 'win32'
          ? 'Set up a Linux machine once: wsl --install. Or name one over SSH.'
          : 'Use a container provider, or a Linux machine over SSH.',
  });
}

/** As `stat` says it: the mode in octal digits, the user, the size and what it is. */
function programOf(line: string): FoundProgram | undefined {
  const [, mode, uid, size, what] = /^([0-7]+) (\d+) (\d+) (.*)$/.exec(line) ?? [];
  if (mode === undefined) return undefined;
  return {
    isFile: what === 'regular file',
    uid: Number(uid),
    mode: Number.parseInt(mode, 8),
    sizeBytes: Number(size),
  };
}

/** Version 1 knows nothing of whose memory the kernel writes back later, so that what is written there goes past every limit. */
function withoutDiskSpeed(
  cgroup: Cgroup | undefined,
  isRoot: boolean,
  controllers: string,
): Pick<Machine, 'withoutDiskSpeed'> {
  if (!isRoot) return { withoutDiskSpeed: 'an ordinary user is handed no control group for it' };
  if (cgroup?.version !== 2)
    return { withoutDiskSpeed: 'version 1 of control groups does not bound what the kernel writes back later' };
  return controllers.split(' ').includes('io') ? {} : { withoutDiskSpeed: 'the kernel has no controller io' };
}
