import { quoted } from '@litterbox/core/provider';
import { ASK_BEFORE_NAME, confinedCopy, copyDisk, copyTree, diskOf, makeDisk } from '@litterbox/linux-sandbox';
import { ownNames } from '@litterbox/sandbox-kit';
import { layersOf, type Layout, sandboxLayoutOf } from '../engine/layout.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Shell text, in a sandbox's unfinished directory: layers with nothing in them, and a playground. */
export function fillSandbox(layout: Layout, meta: SandboxMeta): string {
  return `${entriesOf(meta)}${emptyLayers(layout, meta)}`;
}

/** As {@link fillSandbox}, with what another sandbox has in its layers. */
export function fillCopy(
  layout: Layout,
  source: SandboxMeta,
  meta: SandboxMeta,
  isRoot: boolean,
): (unfinished: string) => string {
  return (unfinished) => `${entriesOf(meta)}${copiedLayers(layout, unfinished, source, meta, isRoot)}`;
}

function entriesOf({ user }: SandboxMeta): string {
  const names = Object.entries(ownNames(user)).map(([file, text]) => `printf %s ${quoted(text)} >names/${file}\n`);
  return `mkdir names\n: >unfinished\n${names.join('')}`;
}

function emptyLayers(layout: Layout, meta: SandboxMeta): string {
  const disk = diskOf(layout, meta);
  if (disk) return makeDisk(disk);
  const playground = quoted(`${layout.playgrounds}/${meta.playground}`);
  const owner = `${meta.user.uid}:${meta.user.gid}`;
  return `mkdir home upper work${meta.prepared === undefined ? '' : ' home-work'}
mkdir ${playground} 2>/dev/null || [ -d ${playground} ]
[ "$(stat -c %u:%g home)" = ${owner} ] || chown ${owner} home upper ${playground}
`;
}

function copiedLayers(
  layout: Layout,
  unfinished: string,
  source: SandboxMeta,
  meta: SandboxMeta,
  isRoot: boolean,
): string {
  const from = sandboxLayoutOf(layout, source.id).directory;
  const [fromDisk, toDisk] = [diskOf(layout, source), diskOf(layout, meta)];
  const { root } = layout;
  if (fromDisk && toDisk) {
    // Nobody mounts or unmounts it meanwhile.
    const copy = `cd ${quoted(unfinished)} || exit 1\n${copyDisk(from, fromDisk)}`;
    return `exec 7>>${quoted(`${from}/disk.lock`)}; flock -w 60 7
${confinedCopy({ root, isRoot, copy })}
${ASK_BEFORE_NAME}
mv -T disk.img ${quoted(toDisk.image)}
`;
  }
  const layers = layersOf(layout, source);
  const hasPlayground = meta.playground === meta.id && source.playground === source.id;
  const copy = [
    copyTree(layers.upper, `${unfinished}/upper`),
    copyTree(layers.home, `${unfinished}/home`),
    ...(hasPlayground ? [copyTree(layers.playground, `${unfinished}/playground`)] : []),
  ].join(' && ');
  // The playground is made when somebody waits for the copy, and not before.
  const playground = quoted(`${layout.playgrounds}/${meta.playground}`);
  const { uid, gid } = meta.user;
  const place = hasPlayground
    ? `mv -T playground ${playground}`
    : `[ -d ${playground} ] || { mkdir ${playground} && chown ${uid}:${gid} ${playground}; }`;
  return `mkdir work${meta.prepared === undefined ? '' : ' home-work'}
${confinedCopy({ root, isRoot, copy })}
${ASK_BEFORE_NAME}
${place}
`;
}
