import {
  type CallOptions,
  type ChangeMark,
  decodeRaw,
  LitterboxError,
  type ProcessHandle,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { MARK_SCRIPT, markOf, sortEnvironment } from '@litterbox/sandbox-kit';
import { BEGIN_LOOK, END_LOOK } from './network-probe.ts';
import { FACTS_SCRIPT } from './pod-assurance.ts';

/** Facts of a new pod, found while its workspace was unpacked. */
export interface BegunSandbox {
  /** As `assuranceOf` takes them. */
  readonly facts: string;
  readonly hasPerl: boolean;
  /** The moment at which all was there; undefined where the image does not tell it in one go. */
  readonly mark: ChangeMark | undefined;
  /** The environment of process 1: it is the image's, read before anything of an agent ran. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
}

/** A line that none of the kernel's files has. */
const CUT = '\n==\n';
const MAX_OUTPUT_CHARACTERS = 2 ** 21;
/** Variables of the cluster and of the shell of process 1, beside those of the image. */
const NOT_OF_IMAGE = /^(KUBERNETES_|(HOSTNAME|HOME|PWD|SHLVL|_)=)/;

/** Shell text with the workspace and the addresses as arguments: tells all that a new pod is asked, and unpacks its stdin. One program costs a tenth of a second. */
const BEGIN = `umask 022; lb_to=$1; shift
command -v perl >/dev/null && echo perl || echo none
${BEGIN_LOOK}
${FACTS_SCRIPT}
echo '=='; cat /proc/1/environ; echo; echo '=='
tar -xpf - -C "$lb_to"; lb_code=$?
${END_LOOK}
echo '=='; ${MARK_SCRIPT}; exit $lb_code`;

/** Unpacks the base, whose files are older than all that follows, and asks what {@link BegunSandbox} tells. */
export async function beginSandbox(
  start: (argv: readonly [string, ...string[]]) => Promise<ProcessHandle>,
  { workspace, workdir }: Pick<SandboxSpec, 'workspace' | 'workdir'>,
  { addresses, running }: { readonly addresses: readonly string[]; readonly running: Promise<unknown> },
  options?: CallOptions,
): Promise<BegunSandbox> {
  await using program = await start(['/bin/sh', '-c', BEGIN, 'sh', workdir, ...addresses]);
  let output = '';
  let complaint = '';
  const reading = (async () => {
    for await (const { type, bytes } of program)
      if (type === 'stderr-data') complaint = (complaint + decodeRaw(bytes)).slice(-500);
      else if (output.length < MAX_OUTPUT_CHARACTERS) output += decodeRaw(bytes);
  })();
  for await (const chunk of workspace.open(options) as unknown as AsyncIterable<Uint8Array>) await program.write(chunk);
  await running; // from then on everybody in the cluster knows its address: the look at the network ends after that
  await program.closeStdin();
  await reading;
  const { code } = await program.exit;
  if (code !== 0)
    throw new LitterboxError(
      'UNAVAILABLE',
      `The workspace could not be unpacked in the pod: ${complaint.trim() || `tar ended with ${code}`}.`,
      { operation: 'provider.create', hint: 'The image needs tar, and the node room for the files.' },
    );
  // The environment alone may hold such a line of its own.
  const [first, last] = [output.indexOf(CUT), output.lastIndexOf(CUT)];
  const middle = output.lastIndexOf(CUT, last - 1);
  return {
    hasPerl: output.startsWith('perl\n'),
    facts: output.slice('perl\n'.length, first + 1) + output.slice(middle + CUT.length, last + 1),
    imageEnvironment: environmentOf(output.slice(first + CUT.length, middle)),
    mark: markOf(output.slice(last + CUT.length)),
  };
}

const environmentOf = (text: string): Readonly<Record<string, string>> =>
  sortEnvironment(text.split('\0').filter((entry) => entry.includes('=') && !NOT_OF_IMAGE.test(entry))).environment;
