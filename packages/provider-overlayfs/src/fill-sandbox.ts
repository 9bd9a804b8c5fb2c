import { quoted } from '@litterbox/core/provider';
import {
  ASK_BEFORE_NAME,
  confinedCopy,
  copiesPlan,
  copyDisk,
  copyTree,
  type DiskTree,
  type DirectoryLayout,
  fillDisk,
  makeEntries,
  makeDisk,
  type NewEntries,
  SANDBOX_USER,
  SESSION_ENTRIES,
  type Staging,
  sandboxFilesOf,
  type PlanEntry,
} from '@litterbox/linux-sandbox';
import { strategyNamed } from './strategies/choose-strategy.ts';
import { imageOf } from './session/image-of.ts';
import { artefactDirectory, baseDirectory } from './session/layout.ts';
import type { Machine } from './machine/machine.ts';
import { ownBoundOf } from './session/own-bound-of.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';
import { stillPlan, stillScript } from './still-script.ts';
import type { PrepareInput } from './strategies/strategy.ts';

/** Facts by which the directory of a sandbox is filled. */
export interface FillInput {
  readonly layout: DirectoryLayout;
  readonly machine: Machine;
  readonly meta: SandboxMeta;
  /** Absolute path of the kept setup that it stands on. */
  readonly setup: string | undefined;
}

const ENTRIES: readonly NewEntries[] = [
  ...SESSION_ENTRIES,
  { type: 'directories', mode: '711', names: ['scan-io'] },
  { type: 'directories', mode: '755', names: ['base', 'etc', 'playground', 'tools'] },
];
const OWNER = `${SANDBOX_USER.uid}:${SANDBOX_USER.gid}`;

/** Shell text, in a sandbox's unfinished directory: layers with nothing in them but the base, and a playground. */
export function fillSandbox({ layout, machine, meta, setup }: FillInput, unfinished: string): string {
  const strategy = strategyNamed(meta.strategy, machine.provider);
  const image = imageOf(layout, strategy, meta);
  const begun = prepareInput({ layout, machine, meta, setup });
  const isCopiedOntoImage = image !== undefined && strategy.changes === 'workspace';
  const playground = quoted(`${layout.playgrounds}/${meta.playground}`);
  const putIn = ownBoundOf(strategy, meta)?.putIn(`${layout.playgrounds}/${meta.playground}`, unfinished);
  const { root } = layout;
  return `${makeEntries(ENTRIES)}
mkdir ${playground} 2>/dev/null || [ -d ${playground} ]
${isCopiedOntoImage ? '' : strategy.prepare(begun)}
${machine.isRoot ? `chown ${OWNER} home ${playground} ${strategy.owned.join(' ')}` : ''}
${image ? makeDisk(image) : ''}${isCopiedOntoImage ? fillDisk(image, OWNER, copiedTrees(begun)) : ''}${putIn === undefined ? '' : `[ -z "$(ls -A ${playground})" ] || ${confinedCopy({ root, isRoot: machine.isRoot, copy: putIn })}\n`}`;
}

function prepareInput({ layout, machine, meta, setup }: FillInput): PrepareInput {
  const artefacts = artefactDirectory(layout, meta);
  return {
    base: baseDirectory(layout, strategyNamed(meta.strategy, machine.provider), meta.base),
    ...(setup !== undefined && { setup }),
    ...(artefacts !== undefined && { artefacts }),
    ...(meta.limits.diskBytes !== undefined && { diskBytes: meta.limits.diskBytes }),
  };
}

/**
 * The same as a plan of the session program (`packages/session-program/src/stage.h`); undefined where it takes other programs to copy trees or
 * to make a disk.
 */
export function fillPlan(input: FillInput, staging: Staging): readonly PlanEntry[] | undefined {
  const { layout, machine, meta } = input;
  const strategy = strategyNamed(meta.strategy, machine.provider);
  const names = strategy.entries?.(prepareInput(input));
  if (names === undefined || imageOf(layout, strategy, meta) || ownBoundOf(strategy, meta)) return undefined;
  const playground = `${layout.playgrounds}/${meta.playground}`;
  return [
    ...stagingPlan(staging),
    ...entriesPlan([...ENTRIES, { type: 'directories', mode: '755', names }]),
    ['playground', playground],
    ...(machine.isRoot
      ? [['owner', `${SANDBOX_USER.uid}`, `${SANDBOX_USER.gid}`, 'home', playground, ...strategy.owned] as const]
      : []),
    ['write', 'meta.json', staging.description],
    ['go'],
  ];
}

/** The trees that are copied onto an image for a workspace that is a copy. */
function copiedTrees({ base, setup, artefacts }: PrepareInput): readonly DiskTree[] {
  if (setup === undefined)
    return [{ from: base, to: 'ws' }, ...(artefacts === undefined ? [] : [{ from: artefacts, to: 'ws' } as const])];
  return [
    { from: `${setup}/ws`, to: 'ws' },
    { from: `${setup}/home`, to: 'home' },
  ];
}

/** As {@link fillPlan}, for a copy of another sandbox; undefined too for who may not mount, and for disks. */
export function fillCopyPlan(
  { layout, machine, meta, setup }: FillInput,
  source: SandboxMeta,
  staging: Staging,
): readonly PlanEntry[] | undefined {
  const strategy = strategyNamed(meta.strategy, machine.provider);
  const isWithDisk = imageOf(layout, strategy, source) ?? imageOf(layout, strategy, meta) ?? ownBoundOf(strategy, meta);
  if (!machine.isRoot || isWithDisk) return undefined;
  const from = sandboxFilesOf(`${layout.sandboxes}/${source.id}`).directory;
  const isOwn = meta.limits.diskBytes === undefined && meta.playground === meta.id && source.playground === source.id;
  const playground = `${layout.playgrounds}/${meta.playground}`;
  const copied = `${staging.unfinished}/own-playground`;
  const copies = copiesPlan({
    root: layout.root,
    layers: strategy.layers,
    from,
    to: staging.unfinished,
    ...(isOwn && { more: [['tree', `${layout.playgrounds}/${source.id}`, copied]] }),
  });
  if (copies === undefined) return undefined;
  const base = baseDirectory(layout, strategy, meta.base);
  const empty = strategy.changes === 'upper' ? strategy.entries?.({ base, ...(setup !== undefined && { setup }) }) : [];
  if (empty === undefined) return undefined;
  return [
    ...stagingPlan(staging),
    ...entriesPlan([...ENTRIES, { type: 'directories', mode: '755', names: empty }]),
    stillPlan(layout, machine, source.id),
    copies,
    ['ask', 'copied'],
    ...(isOwn
      ? [['move', copied, playground] as const]
      : ([
          ['playground', playground],
          ['owner', `${SANDBOX_USER.uid}`, `${SANDBOX_USER.gid}`, playground],
        ] as const)),
    ['write', 'meta.json', staging.description],
    ['go'],
  ];
}

const stagingPlan = (staging: Staging): readonly PlanEntry[] => [
  ['above', ...staging.above],
  ['names', staging.parent, staging.unfinished, staging.directory],
  ['bases', ...staging.bases],
  ['refused', ...staging.refused.map((number) => number.toString(16))],
];

const entriesPlan = (entries: readonly NewEntries[]): readonly PlanEntry[] =>
  entries.filter(({ names }) => names.length > 0).map(({ type, mode, names }) => [type, mode, ...names]);

/** As {@link fillSandbox}, with the layers of another sandbox, which stands still meanwhile. */
export function fillCopy(
  { layout, machine, meta, setup }: FillInput,
  source: SandboxMeta,
): (unfinished: string) => string {
  const strategy = strategyNamed(meta.strategy, machine.provider);
  const from = sandboxFilesOf(`${layout.sandboxes}/${source.id}`).directory;
  const isBounded = meta.limits.diskBytes !== undefined;
  // Where it is bounded it is on the disk, or on the layers.
  const hasPlayground = !isBounded && meta.playground === meta.id && source.playground === source.id;
  const [fromDisk, toDisk] = [imageOf(layout, strategy, source), imageOf(layout, strategy, meta)];
  const base = baseDirectory(layout, strategy, meta.base);
  const empty = strategy.changes === 'upper' ? strategy.prepare({ base, ...(setup !== undefined && { setup }) }) : '';
  const playground = quoted(`${layout.playgrounds}/${meta.playground}`);
  const owner = machine.isRoot ? ` && chown ${OWNER} ${playground}` : '';
  // Playground and disk get their names when somebody waits for the copy, and not before.
  const place = toDisk
    ? `mv -T disk.img ${quoted(toDisk.image)}`
    : hasPlayground
      ? `mv -T own-playground ${playground}`
      : `[ -d ${playground} ] || { mkdir ${playground}${owner}; }`;
  return (unfinished) => {
    const trees = [
      ...strategy.layers.map(({ name, copy }) => copy(`${from}/${name}`, `${unfinished}/${name}`)),
      ...(hasPlayground ? [copyTree(`${layout.playgrounds}/${source.id}`, `${unfinished}/own-playground`)] : []),
    ];
    const copy = fromDisk ? `cd ${quoted(unfinished)} || exit 1\n${copyDisk(from, fromDisk)}` : trees.join(' && ');
    const confined = confinedCopy({ root: layout.root, isRoot: machine.isRoot, copy });
    return `${makeEntries(ENTRIES)}
${empty}${stillScript(layout, machine, source.id, confined)} || exit
${ASK_BEFORE_NAME}
${place}
`;
  };
}
