import {
  type ProviderKey,
  printfFormat,
  quoted,
  decodeRaw,
  encodeRaw,
  type CallOptions,
  type Host,
  INSIDE,
} from '@litterbox/core/provider';
import { TEMPORARY_DIRECTORIES, temporaryBytes } from '@litterbox/sandbox-kit';
import { GIVEN, runScriptOrFail, TAKE_GIVEN } from '../script/run-script.ts';
import { etcDirectoryScript } from './etc-directory.ts';
import { PROCESS_ONE } from './first-process.ts';
import type { Isolation, Place } from './isolation.ts';
import { judgeFacts } from '../kernel/judge-facts.ts';
import { HOST_NAMESPACES_SCRIPT } from '../kernel/kernel-facts.ts';
import type { PlaceFiles } from './place-files.ts';
import type { PlaceMeta } from './place-meta.ts';
import { placeScript } from './place-script.ts';
import { allowedProcessors, chooseProcessors, parseProcessors } from '../kernel/processors.ts';
import type { Launch } from './place-session.ts';

export interface LaunchPlaceInput {
  readonly provider: ProviderKey;
  readonly host: Host;
  /** The provider's own directory. */
  readonly root: string;
  readonly files: PlaceFiles;
  readonly meta: PlaceMeta;
  readonly isolation: Isolation;
  readonly mechanism: string;
  /** The environment of processes inside. */
  readonly environment: Readonly<Record<string, string>>;
}

/** File in a sandbox's directory that tells those who choose the next ones which processors it has. */
const PROCESSORS = 'processors';

/** Shell text: becomes what it is given, a format for `printf`. A command substitution loses line ends at the end of the text: an x keeps them. */
const RUN_GIVEN = `${TAKE_GIVEN}lb_text=$(printf ${GIVEN}x) && eval "\${lb_text%x}"`;

/** How a session of a place of whatever kind is started; makes its root directory, of links and places for mounts. */
export async function launchPlace(input: LaunchPlaceInput, options?: CallOptions): Promise<Launch> {
  const { provider, host, root, files, meta, isolation, mechanism, environment } = input;
  const { id, workdir, limits } = meta;
  const { directory } = files;
  const user = isolation.hasOwnUsers ? INSIDE.user : isolation.user;
  const script = `${etcDirectoryScript(root, user)}
printf '\\0'
${HOST_NAMESPACES_SCRIPT}
printf '\\0'
for p in bin sbin lib lib32 lib64 libx32; do
if [ -h /$p ]; then printf 'l %s %s\\n' $p "$(readlink /$p)"
elif [ -d /$p ]; then printf 'd %s\\n' $p; fi; done
printf '\\0'
cat ${quoted(root)}/sandboxes/*/${PROCESSORS} 2>/dev/null
:`;
  const [said, status] = await Promise.all([
    runScriptOrFail(host, 'provider.start', script, options),
    host.files.read('/proc/self/status', options),
  ]);
  const [etc = '', namespaces = '', tops = '', taken = ''] = said.split('\0');
  const processors = chooseProcessors(
    allowedProcessors(decodeRaw(status ?? new Uint8Array())),
    limits.cpus,
    taken.split('\n').map(parseProcessors),
  );
  const top = tops.split('\n').map((line) => line.split(' '));
  const links = top.flatMap(([type, name = '', target = '']) => (type === 'l' ? [[`/${name}`, target] as const] : []));
  const programs = ['/usr', ...top.flatMap(([type, name = '']) => (type === 'd' ? [`/${name}`] : []))];
  const isAlias = workdir !== INSIDE.alias && !workdir.startsWith(`${INSIDE.alias}/`);
  const place: Place = {
    id,
    directory,
    root: `${directory}/root`,
    binds: [
      ...programs.map((path) => ({ source: path, target: path, isReadOnly: true })),
      { source: etc, target: '/etc', isReadOnly: true },
      { source: `${directory}/io`, target: INSIDE.io, isReadOnly: true },
      { source: `${directory}/home`, target: INSIDE.home, isReadOnly: false },
      { source: `${root}/playgrounds/${meta.playground}`, target: INSIDE.playground, isReadOnly: false },
      { source: `${directory}/ws`, target: workdir, isReadOnly: false },
    ],
    temporary: TEMPORARY_DIRECTORIES.map((target) => ({ target, sizeBytes: temporaryBytes(limits.memoryBytes) })),
    argv: PROCESS_ONE,
    environment,
    workdir,
    limits,
    processors,
  };
  const mounted = [...place.binds, ...place.temporary].map(({ target }) => target);
  const skeleton = [...mounted.filter((path) => !path.startsWith('/dev/')), '/proc', '/dev']
    .map((path) => quoted(`root${path}`))
    .join(' ');
  const madeLinks = [...links, ...(isAlias ? [[INSIDE.alias, workdir] as const] : [])]
    .map(
      ([path, target]) =>
        `[ -h ${quoted(`root${path}`)} ] || ln -s ${quoted(target)} ${quoted(`root${path}`)} || exit 1\n`,
    )
    .join('');
  const supervisor = placeScript({
    directory,
    start: `echo ${processors.join()} >${PROCESSORS} && mkdir -p ${skeleton} && chmod 1777 root/tmp root/var/tmp || exit 1\n${madeLinks}${isolation.start(place)}`,
    thaw: isolation.freeze(place, false),
    clean: isolation.clean(place),
  });
  // The launcher is ended with this call; the supervisor, in a session of its own, is nobody's child from there on.
  const launcher = 'exec 3<&0; setsid sh -c "$0" <&3 3<&- & exec 3<&-; wait';
  return {
    // The text holds the environment, as the isolation writes it: no argument of a process.
    argv: ['sh', '-c', launcher, RUN_GIVEN],
    given: encodeRaw(`${printfFormat(encodeRaw(supervisor)).replaceAll('\n', '\\012')}\n`),
    namespaces,
    judge: (facts) =>
      judgeFacts(
        {
          provider,
          mechanism,
          id,
          workdir,
          hasOwnUsers: isolation.hasOwnUsers,
          limits,
          environment: Object.keys(environment),
          readable: [
            { path: '/usr', reason: 'the programs of this machine' },
            { path: '/etc', reason: 'a copy of what programs need of it; no account of yours' },
          ],
        },
        facts,
      ),
  };
}
