import {
  type Artefacts,
  type CallOptions,
  type Host,
  isLitterboxError,
  type ProcessHandle,
  quoted,
} from '@litterbox/core/provider';
import { ARTEFACT_PREFIX } from '../directory/artefact-prefix.ts';
import { type ArtefactScript, COPY, inWorkTree } from './artefact-script.ts';
import { runScriptOrFail } from '../script/run-script.ts';
import { scriptError } from '../script/script-error.ts';

/** What comes from another machine, and where it goes. */
export interface BringInput {
  /** Where it goes. */
  readonly host: Host;
  /** Directory there that holds layers of earlier times. */
  readonly bases: string;
  /** Absolute path of the directory there that gets the files. */
  readonly unfinished: string;
  readonly artefacts: Artefacts;
  /** How the working tree is read. */
  readonly script: ArtefactScript;
}

/**
 * Brings files of a working tree to another machine: the newest layer there is copied, and then made equal, so that only what differs travels.
 * Where that cannot be done, all is sent by tar. What changed meanwhile is for the caller to see.
 */
export async function bringArtefacts(input: BringInput, options?: CallOptions): Promise<void> {
  const { host, unfinished, artefacts, script } = input;
  const { source, sync, paths } = artefacts;
  if (sync) {
    await beginWithNewest(input, options);
    try {
      const near = { host: readingAs(source.host, script), path: source.path };
      await sync.sync(near, { host, path: unfinished }, { only: paths, maxTold: 0, signal: options?.signal });
      return;
    } catch (error) {
      if (!isLitterboxError(error, 'TOOL_MISSING')) throw error;
      await clear(input, options); // tar would leave what is gone by now
    }
  }
  await sendAll(input, options);
}

const wordsOf = ({ artefacts }: BringInput) => artefacts.paths.map((path) => quoted(`./${path}`)).join(' ');

/** Copies what the newest layer has of the paths: what was brought before is nearly what is brought now. */
async function beginWithNewest(input: BringInput, options?: CallOptions): Promise<void> {
  const { host, bases, unfinished } = input;
  const script = `newest=$(ls -1dt ${quoted(bases)}/${ARTEFACT_PREFIX}* 2>/dev/null | head -n 1)
[ -n "$newest" ] || exit 0
exec 9<${quoted(unfinished)} && cd "$newest" || exit 0
for path in ${wordsOf(input)}; do [ ! -e "$path" ] || [ -h "$path" ] || ${COPY} -t /proc/self/fd/9/ -- "$path" || exit 1; done`;
  await runScriptOrFail(host, 'provider.artefacts', script, options);
}

/** Takes away what {@link beginWithNewest} has copied. */
async function clear(input: BringInput, options?: CallOptions): Promise<void> {
  const script = `cd ${quoted(input.unfinished)} && rm -rf -- ${wordsOf(input)}`;
  await runScriptOrFail(input.host, 'provider.artefacts', script, options);
}

/** The person's machine, whose programs see the working tree read-only and follow no link in it. */
function readingAs(host: Host, script: ArtefactScript): Host {
  return {
    name: host.name,
    files: host.files,
    environment: host.environment,
    facts: (options) => host.facts(options),
    connect: (address, options) => host.connect(address, options),
    spawn: ({ argv, ...spec }, options) =>
      host.spawn({ ...spec, argv: ['sh', '-c', inWorkTree(script, `exec ${argv.map(quoted).join(' ')}`)] }, options),
    [Symbol.asyncDispose]: async () => {}, // it is another's
  };
}

async function sendAll({ host, unfinished, artefacts, script }: BringInput, options?: CallOptions): Promise<void> {
  const packing = inWorkTree(script, 'exec tar -c -f - --format=posix --no-unquote -- "$@"');
  const unpacking = `umask 022; cd ${quoted(unfinished)} && exec tar -x -f - --no-same-owner --same-permissions`;
  await using near = await artefacts.source.host.spawn({ argv: ['sh', '-c', packing] }, options);
  await using far = await host.spawn({ argv: ['sh', '-c', unpacking], stdin: 'pipe' }, options);
  const saidThere = said(far);
  let saidHere = '';
  for await (const { type, bytes } of near)
    if (type === 'stdout-data') await far.write(bytes);
    else saidHere = (saidHere + new TextDecoder().decode(bytes)).slice(-MAX_SAID);
  const { code: codeHere } = await near.exit;
  if (codeHere !== 0) throw scriptError('provider.artefacts', codeHere, saidHere);
  await far.closeStdin();
  const message = await saidThere;
  const { code } = await far.exit;
  if (code !== 0) throw scriptError('provider.artefacts', code, message);
}

const MAX_SAID = 4096;

async function said(process: ProcessHandle): Promise<string> {
  let text = '';
  for await (const { bytes } of process) text = (text + new TextDecoder().decode(bytes)).slice(-MAX_SAID);
  return text;
}
