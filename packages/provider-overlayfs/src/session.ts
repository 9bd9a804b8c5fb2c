import {
  type Assurance,
  CALL_VARIABLE,
  type CallOptions,
  decodeRaw,
  encodeRaw,
  type Host,
  LitterboxError,
  missingControls,
  type NetworkNamespace,
  type OutputChunk,
  type ProcessHandle,
  type ProcessSpec,
  quoted,
  reach,
  runScriptOrFail,
  shown,
} from '@litterbox/core/provider';
import { assuranceOf } from './assurance-of.ts';
import {
  INSIDE,
  MASKED_PROC_DIRECTORIES,
  MASKED_PROC_FILES,
  type ProcEntries,
  READ_ONLY_PROC,
  type SessionSources,
} from './bwrap-arguments.ts';
import { etcDirectoryScript } from './etc-directory.ts';
import { type Layout, type SandboxLayout, setupDirectory } from './layout.ts';
import type { Machine } from './machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { SandboxProcess } from './sandbox-process.ts';
import { firstProcess, HOST_NAMESPACES_SCRIPT, networkOf, parseFacts } from './session-facts.ts';
import type { Strategy } from './strategies/strategy.ts';
import { supervisorScript } from './supervisor-script.ts';
import { CREDENTIAL_NAMES } from './tool-directories.ts';

export interface SessionInput {
  readonly host: Host;
  readonly machine: Machine;
  readonly layout: Layout;
  readonly sandbox: SandboxLayout;
  readonly meta: SandboxMeta;
  readonly strategy: Strategy;
  readonly filter: string;
  /** The environment of processes inside. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What is known of a running session, for those that come after who started it. */
interface KeptFacts {
  readonly assurance: Assurance;
  readonly network: NetworkNamespace;
}

/** Holds the sandbox's clients lock shared while its stdin is open: when this process is killed, the kernel closes that. */
const LINK_SCRIPT = `cd "$0" && exec 9<>clients.lock && flock -s 9 && echo linked && read -r word
( exec 9<&- 0</dev/null; flock -s alive.lock true; echo gone ) &
exec cat >/dev/null`;

/**
 * This process's part in a sandbox's running session: namespaces, overlay and first process, shared by all clients and ended
 * with the last of them. Whoever comes first starts it.
 */
export class Session implements AsyncDisposable {
  readonly assurance: Assurance;
  readonly network: NetworkNamespace;
  readonly #input: SessionInput;
  readonly #link: ProcessHandle;
  readonly #processes = new Set<SandboxProcess>();
  /** Aborted when the session has ended: whatever waits for it on the host is ended too. */
  readonly #lost = new AbortController();
  readonly #pump: Promise<void>;

  private constructor(input: SessionInput, link: ProcessHandle, output: AsyncIterator<string>, facts: KeptFacts) {
    this.#input = input;
    this.#link = link;
    this.assurance = facts.assurance;
    this.network = facts.network;
    this.#pump = this.#watch(output);
  }

  /** @throws LitterboxError `DEGRADED` when a control is missing and nobody allowed that; `UNAVAILABLE` when it cannot start. */
  static async attach(input: SessionInput, call?: CallOptions): Promise<Session> {
    const link = await input.host.spawn({ argv: ['sh', '-c', LINK_SCRIPT, input.sandbox.directory], stdin: 'pipe' });
    try {
      const output = lines(link)[Symbol.asyncIterator]();
      const [first, known] = await Promise.all([output.next(), prelude(input, call)]);
      if (first.value !== 'linked') {
        throw new LitterboxError('NOT_FOUND', 'The directory of the sandbox is gone.', {
          operation: 'provider.open',
          provider: 'overlayfs',
          hint: 'Run litterbox recover on it.',
        });
      }
      reach('session.after-link');
      const facts = await launch(input, known, call);
      await link.write(encodeRaw('watch\n'));
      return new Session(input, link, output, facts);
    } catch (error) {
      await link[Symbol.asyncDispose]();
      throw error;
    }
  }

  get isAlive(): boolean {
    return !this.#lost.signal.aborted;
  }

  /** Starts a program in the sandbox, or in the namespace of its change scanner. */
  async spawn(where: 'sandbox' | 'scanner', spec: ProcessSpec, call?: CallOptions): Promise<ProcessHandle> {
    const { host, sandbox, environment, meta } = this.#input;
    const base = where === 'sandbox' ? environment : { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
    const started = await SandboxProcess.start(
      {
        host,
        io: `${sandbox.directory}/${where === 'sandbox' ? 'io' : 'scan-io'}`,
        inside: INSIDE.io,
        spec: {
          cwd: where === 'sandbox' ? meta.workdir : '/',
          ...spec,
          env: { [CALL_VARIABLE]: crypto.randomUUID(), ...(spec.env ?? base) },
        },
        inherited: Object.keys(base),
        lost: this.#lost.signal,
        onEnd: (process) => this.#processes.delete(process),
      },
      call,
    );
    this.#processes.add(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The processes first, while there is a session to end them in; then the lock: without other clients the session ends.
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    await this.#link[Symbol.asyncDispose]();
    await this.#pump;
  }

  async #watch(output: AsyncIterator<string>): Promise<void> {
    await output.next().catch(() => undefined); // `gone`, or the link itself ended
    this.#lost.abort();
  }
}

async function* lines(handle: ProcessHandle): AsyncGenerator<string, undefined, undefined> {
  let text = '';
  for await (const { type, bytes } of handle) {
    if (type === 'stderr-data') continue;
    text += decodeRaw(bytes);
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
  return undefined;
}

/** Starts the supervisor unless one lives, judges what the kernel says, and lets the session go or ends it. */
async function launch(input: SessionInput, known: Prelude, call?: CallOptions): Promise<KeptFacts> {
  const { host, machine, layout, sandbox, meta, strategy, filter, environment } = input;
  const { etc, sources, proc, namespaces } = known;
  const script = supervisorScript({
    machine,
    meta,
    strategy,
    filter,
    sources,
    proc,
    environment,
    etc,
    directory: sandbox.directory,
    base: `${layout.bases}/${meta.base}`,
    playground: `${layout.playgrounds}/${meta.playground}`,
    ...(meta.prepared && { setup: setupDirectory(layout, { ...meta, ...meta.prepared }, meta.prepared.key) }),
  });
  // The launcher is ended with this call; the supervisor, in a session of its own, is nobody's child from there on.
  const launcher = `exec 3<&0; setsid unshare ${machine.isRoot ? '' : '-Ur '}-m --propagation private sh -c "$0" <&3 3<&- & exec 3<&-; wait`;
  await using handle = await host.spawn({ argv: ['sh', '-c', launcher, script], stdin: 'pipe' });
  const abort = () => void handle.closeStdin(); // the supervisor then ends what it started
  call?.signal?.addEventListener('abort', abort, { once: true });
  try {
    const supervisor = new SupervisorTalk(handle);
    const { words, said } = await supervisor.next();
    call?.signal?.throwIfAborted();
    if (words[0] === 'alive') return await keptFacts(input);
    if (words[0] !== 'facts') {
      const reason = words[0]?.replace(/^error /, '') ?? (said === '' ? 'the supervisor said nothing' : said);
      throw new LitterboxError(
        /No space left on device/.test(reason) ? 'DISK_FULL' : 'UNAVAILABLE',
        `The sandbox could not be started: ${shown(reason.trim())}.`,
        {
          operation: 'provider.start',
          provider: 'overlayfs',
          hint: 'Run litterbox doctor to see what is missing on this machine.',
        },
      );
    }
    const uidMap = decodeRaw((await host.files.read(`/proc/${firstProcess(words)}/uid_map`)) ?? new Uint8Array());
    const assurance = assuranceOf(machine, meta, parseFacts(words, uidMap, namespaces));
    const missing = missingControls(assurance);
    if (missing.length > 0 && !meta.allowDegraded) {
      throw new LitterboxError(
        'DEGRADED',
        `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
        {
          operation: 'provider.start',
          provider: 'overlayfs',
          hint: `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
          facts: { missing: missing.map(({ name }) => name) },
        },
      );
    }
    reach('session.before-go');
    const facts: KeptFacts = { assurance, network: networkOf(words, machine.isRoot) };
    await host.files.write(sandbox.session, encodeRaw(JSON.stringify(facts)));
    await handle.write(encodeRaw('go\n'));
    const answer = await supervisor.next();
    reach('session.after-go');
    if (answer.words[0] !== 'running')
      throw new LitterboxError(
        'UNAVAILABLE',
        `The session of the sandbox did not start: ${shown(answer.said.trim())}.`,
        {
          operation: 'provider.start',
          provider: 'overlayfs',
          hint: 'Try again; if it happens again, run litterbox doctor.',
        },
      );
    return facts;
  } finally {
    call?.signal?.removeEventListener('abort', abort);
    await handle.closeStdin();
  }
}

/** What the supervisor says, one message at a time. */
class SupervisorTalk {
  readonly #chunks: AsyncIterator<OutputChunk>;

  constructor(handle: ProcessHandle) {
    this.#chunks = handle[Symbol.asyncIterator]();
  }

  async next(): Promise<{ readonly words: readonly string[]; readonly said: string }> {
    let text = '';
    let said = '';
    for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next()) {
      const { type, bytes } = next.value;
      if (type === 'stderr-data') {
        said = (said + decodeRaw(bytes)).slice(-4096);
        continue;
      }
      text += decodeRaw(bytes);
      if (text.startsWith('facts\0') ? text.endsWith('\0end\0') : text.endsWith('\0')) break;
    }
    return { words: text.split('\0').slice(0, -1), said };
  }
}

async function keptFacts({ host, sandbox }: SessionInput): Promise<KeptFacts> {
  const bytes = await host.files.read(sandbox.session);
  if (!bytes)
    throw new LitterboxError('SANDBOX_BROKEN', 'The running session of the sandbox left no record of its controls.', {
      operation: 'provider.open',
      provider: 'overlayfs',
      hint: 'Run litterbox pause --stop and litterbox resume on it.',
    });
  return JSON.parse(decodeRaw(bytes)) as KeptFacts;
}

/** What a session start needs to know of the host as it is now. */
interface Prelude {
  readonly etc: string;
  readonly sources: SessionSources;
  readonly proc: ProcEntries;
  readonly namespaces: string;
}

async function prelude({ host, machine, layout, meta }: SessionInput, call?: CallOptions): Promise<Prelude> {
  const isMachine = meta.root.type === 'machine';
  const tools = isMachine
    ? machine.toolDirectories.map(({ path }, index) => ({ source: `/run/tools/${index}`, target: path }))
    : [];
  const names = CREDENTIAL_NAMES.map((name) => `-name ${quoted(name)}`).join(' -o ');
  const script = `${etcDirectoryScript(layout.root)}
printf '\\0'
${HOST_NAMESPACES_SCRIPT}
printf '\\0'
for p in ${[...MASKED_PROC_FILES, ...READ_ONLY_PROC, ...MASKED_PROC_DIRECTORIES].join(' ')}; do [ -e $p ] && echo $p; done
printf '\\0'
${tools.length > 0 ? `find ${tools.map(({ target }) => quoted(target)).join(' ')} -mindepth 1 -maxdepth 2 \\( ${names} \\) -printf '%y %p\\0' 2>/dev/null` : ''}
:`;
  const [etc = '', namespaces = '', procList = '', ...masked] = (
    await runScriptOrFail(host, 'provider.start', script, call)
  ).split('\0');
  const existing = new Set(procList.trim().split('\n'));
  const entries = meta.root.type === 'directory' ? await rootEntries(host, meta.root.path, meta.workdir) : [];
  return {
    etc,
    namespaces,
    proc: {
      files: MASKED_PROC_FILES.filter((path) => existing.has(path)),
      directories: MASKED_PROC_DIRECTORIES.filter((path) => existing.has(path)),
      readOnly: READ_ONLY_PROC.filter((path) => existing.has(path)),
    },
    sources: {
      tools,
      masked: masked
        .filter((line) => line !== '' && !line.startsWith('l '))
        .map((line) => ({
          path: line.slice(2),
          type: line.startsWith('d ') ? ('directory' as const) : ('file' as const),
        })),
      rootEntries: entries,
    },
  };
}

/** Made anew in every sandbox, so a root file system's own are not used. */
const OWN_ENTRIES = new Set(['proc', 'sys', 'dev', 'run', 'tmp', 'home', 'src', 'playground', 'lost+found']);

async function rootEntries(host: Host, root: string, workdir: string): Promise<SessionSources['rootEntries']> {
  const all = await host.files.list(root);
  if (!all?.some(({ name }) => name === 'bin')) {
    throw new LitterboxError('UNSUPPORTED', `${shown(root)} is not a root file system: it has no bin directory.`, {
      operation: 'provider.create',
      provider: 'overlayfs',
      hint: 'Name a directory made by debootstrap, or unpacked from an image.',
    });
  }
  const top = workdir.split('/')[1] ?? '';
  const entries = all.filter(({ name }) => !OWN_ENTRIES.has(name) && name !== top && !name.includes('\n'));
  const links = entries.filter(({ type }) => type === 'symlink').map(({ name }) => name);
  const targets =
    links.length === 0
      ? []
      : (
          await runScriptOrFail(
            host,
            'provider.create',
            `cd ${quoted(root)} && for n in ${links.map(quoted).join(' ')}; do readlink -- "$n"; done`,
          )
        ).split('\n');
  return entries
    .filter(({ type }) => type !== 'special')
    .map(({ name, type }) =>
      type === 'symlink'
        ? { name, type: 'link' as const, target: targets[links.indexOf(name)] ?? '' }
        : { name, type: 'bind' as const },
    );
}
