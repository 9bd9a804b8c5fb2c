import { quoted } from '@litterbox/core/provider';
import { copyTree, type Layer } from '@litterbox/linux-sandbox';

/** Directory, in a sandbox's own, of the upper layers that were frozen: called by numbers from 1, the higher above. */
export const FROZEN = 'frozen';
/** File in a sandbox's directory: the next session shall begin with a fresh upper layer. */
export const WANTS_FRESH_UPPER = 'wants-fresh-upper';
/** From how many entries of the upper layer on a fresh one is wanted: a look at them takes some 20 ms. */
export const MOST_ENTRIES = 2048;
/** The kernel asks each layer for each name that is not there, and the option that lists them takes 256 characters. */
const MOST_FROZEN = 8;
/** Hard-linked files move up to the fresh layer by copies: so many at most, and so many KiB of them. */
const MOST_LINKED = { files: 1000, kibibytes: 128 * 1024 };
/** What is there at once in a fresh layer must not make the next one wanted. */
const MOST_BEGUN = MOST_ENTRIES / 2;
const UPPER = 'upper';
const NEXT = 'upper.new';
/** Attributes that programs gave their files. OverlayFS's own marks stay where they are. */
const ATTRIBUTES = `--acls --xattrs --xattrs-include='user.*' --xattrs-exclude='user.overlay.*'`;

/** Shell text: a program that was killed between the two renames of {@link BEGIN_LAYERS} left no upper layer. The fresh one was complete before the first of them. */
const healed = (directory: string) =>
  `{ [ -d ${quoted(`${directory}${UPPER}`)} ] || mv -T ${quoted(`${directory}${NEXT}`)} ${quoted(`${directory}${UPPER}`)}; }`;

/** The layers of a workspace whose upper layer may be frozen. */
export const FREEZABLE_LAYERS: readonly Layer[] = [
  {
    name: UPPER,
    kind: 'upper',
    copy: (from, to) => `${healed(from.slice(0, -UPPER.length))} && ${copyTree(from, to)}`,
  },
  // Sandboxes and snapshots of an earlier release have none.
  {
    name: FROZEN,
    kind: 'some',
    copy: (from, to) => `if [ -d ${quoted(from)} ]; then ${copyTree(from, to)}; else mkdir -p ${quoted(to)}; fi`,
  },
];

/** Shell text, where somebody asked for a fresh upper layer: the part of {@link BEGIN_LAYERS} that makes it, or leaves things as they are. */
export const FRESH_UPPER = `n=1
while [ -d ${FROZEN}/$n ]; do n=$((n+1)); done
fresh_upper() {
rm -rf ${NEXT} && mkdir ${NEXT} || return 1
find ${UPPER} -type f -links +1 -printf '%k\\n' | awk '{ n++; k += $1 } END { exit n > ${MOST_LINKED.files} || k > ${MOST_LINKED.kibibytes} }' || return 1
( export LC_ALL=C; cd ${UPPER} && { printf '.\\0'; find . -type f -links +1 -print0; } | sed -zn ':a;p;s|/[^/]*$||;ta' | sort -zu |
tar -c -f - --format=posix -S ${ATTRIBUTES} --numeric-owner --no-recursion --null -T - | tar -x -f - -C ../${NEXT} -p -S ${ATTRIBUTES} --numeric-owner ) || return 1
[ "$(find ${NEXT} | head -n ${MOST_BEGUN + 1} | wc -l)" -le ${MOST_BEGUN} ] || return 1
[ "$(stat -c '%a %u %g %y' ${UPPER})" = "$(stat -c '%a %u %g %y' ${NEXT})" ] && sync -f ${NEXT} || return 1
mv -T ${UPPER} ${FROZEN}/$n && mv -T ${NEXT} ${UPPER} && chmod u+rwx ${FROZEN}/$n
}
rm -f ${WANTS_FRESH_UPPER}
[ $n -gt ${MOST_FROZEN} ] || fresh_upper 2>/dev/null || [ ! -d ${UPPER} ] || rm -rf ${NEXT}
`;

/**
 * Shell text, in the sandbox's directory at session start, before anything is mounted and while nothing of it runs: freezes the upper layer
 * where somebody asked for that, and sets `$frozen` to what comes into an overlay's `lowerdir` above all else.
 *
 * The fresh layer has the attributes of the old one's top, and every hard-linked file with the directories above it. A file of a lower layer
 * loses its other names when it is written to, so such files stay in the upper one. Where they are too many, nothing is frozen. It gets its
 * name when it is complete and on the disk. At last the frozen layer's top
 * can be read, whatever mode an agent gave it, and its change time is the newest in it: who looks for changes goes by that.
 */
export const BEGIN_LAYERS = `${healed('')} || fail 'its upper layer is gone'
[ -d ${FROZEN} ] || mkdir ${FROZEN} || fail 'cannot make ${FROZEN}'
if [ -e ${WANTS_FRESH_UPPER} ]; then
${FRESH_UPPER}${healed('')} || fail 'its upper layer is gone'
fi
frozen=
n=1
while [ -d ${FROZEN}/$n ]; do frozen=/run/${FROZEN}/$n:$frozen; n=$((n+1)); done
`;
