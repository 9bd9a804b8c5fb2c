import * as z from 'zod';
import { isImageReference } from '../config/settings/image-reference.ts';
import { parseByteSize } from '../config/settings/parse-byte-size.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import { givenFiles } from '../domain/paths/given-files.ts';
import type { NetworkPolicy } from '../domain/sandbox/policy.ts';
import { isSnapshotId } from '../domain/text/snapshot-id.ts';
import { parseProviderKey } from '../domain/sandbox/provider-key.ts';
import { shown } from '../domain/text/shown.ts';
import type { BaseSource } from '../ports/source-control/persons-repository.ts';
import type { CreateSandboxResult } from '../use-cases/create/create-options.ts';
import { CreateSandbox } from '../use-cases/create/create-sandbox.ts';
import type { PolicyOverrides } from '../use-cases/decide/decide-policy.ts';
import { fields } from './declare/fields.ts';
import { portUrl } from './work/list-ports.ts';
import { operation } from './declare/operation.ts';
import { wordings } from './declare/wording.ts';

const MIB = 2 ** 20;
const argv = z.tuple([z.string()], z.string()).readonly();

const input = z.strictObject({
  name: z
    .string()
    .register(wordings, { placeholder: 'name' })
    .optional()
    .describe('Name for people; becomes a slug of a-z, 0-9 and dashes, 1 to 40 characters. Default: a made-up one'),
  from: fields
    .text('base')
    .optional()
    .describe(
      "Base to start from: head, worktree (with the uncommitted changes), or a commit. Default: the configuration's",
    ),
  files: z
    .record(z.string(), z.union([z.string(), fields.octets()]))
    .register(wordings, {
      about:
        'The files that it begins with, by their paths, where there is no repository (`repo: false`); up to 10,000',
    })
    .optional(),
  include: fields
    .paths()
    .optional()
    .describe(
      'Paths of the working tree to copy in although git ignores them or they look like secrets; not recorded: node_modules,target',
    ),
  lower: z
    .enum(['frozen', 'live'])
    .optional()
    .describe('Base of the workspace: a frozen tree of the commit, or the working tree itself, without a copy'),
  provider: fields.text('name').optional().describe('Provider that runs it. Default: the first that works here'),
  host: fields
    .machines()
    .optional()
    .describe(
      'Machine to run it on: one of your hosts, or several, of which Litterbox takes the one with the most room',
    ),
  memoryBytes: fields
    .bytes(64 * MIB)
    .optional()
    .describe('Memory of all processes together, such as 2GiB'),
  cpus: fields.number(0.01, 1024).optional().describe('Processors, fractions allowed'),
  processes: fields.count(16, 4_194_304).optional().describe('Processes and threads at once'),
  openFiles: fields.count(64, 1_048_576).optional().describe('Open descriptors per process'),
  diskBytes: fields
    .bytes(16 * MIB)

    .optional()
    .describe('Most that it may write in all'),
  diskBytesPerSecond: fields
    .bytes(64 * 1024)
    .register(wordings, { placeholder: 'size', flag: 'disk-io', parse: parseByteSize, wanted: 'a size such as 10MiB' })
    .optional()
    .describe('Bytes read and written per second'),
  timeoutMs: fields.durationMs(1_000).optional().describe('For commands without a timeout of their own'),
  environment: fields.variables().optional().describe('Variables for every command'),
  workdir: fields.text('path').optional().describe('Where the workspace is inside; absolute'),
  setup: z
    .union([z.string(), argv, z.array(argv).readonly()])
    .register(wordings, { placeholder: 'command' })
    .optional()
    .describe('Run once, instead of the configured setup command'),
  setupTimeoutMs: fields.durationMs(1_000).optional().describe('For the setup as a whole'),
  rootfs: fields.text('directory').optional().describe("A root file system instead of this machine's programs"),
  image: fields.text('image').optional().describe('A container image, for docker and podman'),
  network: z
    .enum(['none', 'setup', 'run', 'both'])
    .optional()
    .describe('Phases that may reach the hosts that are allowed: none, the setup, commands after it, or both'),
  allow: fields
    .rules()
    .optional()
    .describe('Hosts that may be reached, over HTTPS: registry.example.org, *.example.org, host.example.org:8443'),
  allowPrivate: fields
    .rules()
    .optional()
    .describe('Hosts that may be reached at addresses of a private network, such as a registry of your own'),
  deny: fields.rules().optional().describe('Hosts that stay out of reach, as exceptions'),
  playgroundScope: z
    .enum(['sandbox', 'shared'])
    .optional()
    .describe('A playground of its own, or the one that sandboxes share'),
  workspaceGit: z
    .enum(['none', 'throwaway'])
    .optional()
    .describe('A one-commit repository inside, for tools that want one'),
  worktrees: z.enum(['on-demand', 'eager']).optional().describe('When .litterbox/worktrees/<name> is written'),
  requireMessage: fields.flag().optional().describe('Refuse calls that change files without a message'),
  allowDegraded: fields.flag().optional().describe('Continue although a security control is missing'),
  freshSetup: fields.flag().optional().describe('Run the setup again although its result is kept'),
  rollback: fields.flag().optional().describe('Remove everything again when the setup fails'),
  labels: fields.labels().optional().describe('A label to find it by; again for more'),
  ephemeral: fields
    .flag()
    .register(wordings, { about: 'Delete it, with all its work, when its object or the Litterbox is disposed of' })
    .optional(),
});

/** `sandbox-create`, `litterbox create`: make a sandbox from a commit. */
export const createSandbox = operation({
  name: 'sandbox-create',
  summary: 'Make a sandbox from a commit',
  effect: 'write',
  command: {
    verb: 'create',
    positional: ['name'],
    examples: [
      'create fix-login',
      'create try --from worktree --memory 2GiB',
      "create api --setup 'make deps'",
      'create web --provider docker --image node:24',
      'create big --host build-box',
      'create big --host build-box,attic,local',
      'create docs --network setup --allow registry.npmjs.org',
    ],
  },
  input,
  document: async ({ record, leftOut, heldBack, warnings }: CreateSandboxResult) => ({
    name: record.slug,
    id: record.id,
    provider: record.provider,
    host: parseProviderKey(record.provider).host,
    ...(record.placement && { placement: record.placement }),
    ...(record.labels && { labels: record.labels }),
    base: record.baseCommit,
    workdir: record.workdir,
    leftOut: await leftOut.catch(() => null), // git could not say
    ...(heldBack && { heldBack }),
    ...(record.policy.include && { include: record.policy.include }),
    warnings,
    mechanism: record.assurance?.mechanism,
    ...(record.ports && { ports: record.ports.map((port) => ({ ...port, url: portUrl(port) })) }),
  }),
  execute: async (
    useCases,
    { name, from, files, provider, host, freshSetup, rollback, labels, ephemeral, ...keys },
    options,
  ) =>
    await useCases.get(CreateSandbox).create(
      {
        name,
        from: baseSource(from, files),
        provider,
        hosts: typeof host === 'string' ? [host] : host,
        freshSetup,
        rollback,
        labels,
        isEphemeral: ephemeral,
        overrides: overridesOf(keys),
      },
      options,
    ),
});

function baseSource(
  from: string | undefined,
  files: Readonly<Record<string, string | Uint8Array>> | undefined,
): BaseSource | undefined {
  if (files && from !== undefined)
    throw new LitterboxError('INVALID_ARGUMENT', 'A sandbox begins with files or from a commit, not with both.', {
      operation: 'sandbox.create',
      hint: 'Leave out files or from.',
    });
  if (files) return { type: 'files', files: givenFiles(files) };
  if (from === undefined) return undefined;
  if (isSnapshotId(from))
    throw new LitterboxError('INVALID_ARGUMENT', `${shown(from)} is a snapshot, and no commit.`, {
      operation: 'sandbox.create',
      hint: 'A copy of its sandbox can begin with it: fork has the option snapshot.',
    });
  return from === 'head' || from === 'worktree' ? { type: from } : { type: 'ref', name: from };
}

function overridesOf({
  memoryBytes,
  cpus,
  processes,
  openFiles,
  diskBytes,
  diskBytesPerSecond,
  setup,
  rootfs,
  image,
  network,
  allow,
  allowPrivate,
  deny,
  ...rest
}: Omit<
  z.output<typeof input>,
  'name' | 'from' | 'files' | 'provider' | 'host' | 'freshSetup' | 'rollback' | 'labels' | 'ephemeral'
>): PolicyOverrides {
  return {
    ...defined(rest),
    limits: defined({ memoryBytes, cpus, processes, openFiles, diskBytes, diskBytesPerSecond }),
    ...(setup !== undefined && { setup: setupOf(setup) }),
    ...rootOf(rootfs, image),
    ...((network ?? allow ?? allowPrivate ?? deny) !== undefined && {
      network: { ...modesOf(network), ...defined({ allow, allowPrivate, deny }) },
    }),
  };
}

function modesOf(
  phase: 'none' | 'setup' | 'run' | 'both' | undefined,
): Pick<NetworkPolicy, 'setup' | 'run'> | undefined {
  if (phase === undefined) return undefined;
  const mode = (own: 'setup' | 'run') => (phase === own || phase === 'both' ? 'allow-list' : 'none');
  return { setup: mode('setup'), run: mode('run') };
}

function rootOf(rootfs: string | undefined, image: string | undefined): Pick<PolicyOverrides, 'root'> {
  if (image === undefined) return rootfs === undefined ? {} : { root: { type: 'directory', path: rootfs } };
  const refused = (message: string, hint: string) =>
    new LitterboxError('INVALID_ARGUMENT', message, { operation: 'sandbox.create', hint });
  if (rootfs !== undefined)
    throw refused('A sandbox has an image or a root file system, not both.', 'Leave out --image or --rootfs.');
  if (!isImageReference(image))
    throw refused(
      `${shown(image)} is not an image reference.`,
      'Write [registry/]name[:tag][@sha256:digest] in lower case, as for docker pull.',
    );
  return { root: { type: 'image', reference: image } };
}

function setupOf(
  setup: string | readonly [string, ...string[]] | readonly (readonly [string, ...string[]])[],
): NonNullable<PolicyOverrides['setup']> {
  if (typeof setup === 'string') return [setup];
  const isList = (one: typeof setup): one is readonly (readonly [string, ...string[]])[] =>
    Array.isArray(one[0]) || one.length === 0;
  return isList(setup) ? setup : [setup];
}

function defined<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}
