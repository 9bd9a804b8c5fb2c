import { quoted } from '@litterbox/core/provider';
import { COPY_EXITS } from '../directory/copy-layers.ts';

/** What is copied out of a person's working tree. */
export interface ArtefactScript {
  /** Absolute path of the working tree. */
  readonly source: string;
  /** From its top; none lies below another. */
  readonly paths: readonly string[];
  /** Whether programs on the host run as root there. */
  readonly isRoot: boolean;
}

/** Exit codes of the scripts below, beside those of {@link COPY_EXITS}. The first three come with the path on stderr. */
export const ARTEFACT_EXITS = { missing: 101, belowLink: 102, mounted: 103, changed: 104 } as const;

/** Times before this one, 2 January 2000 in UTC, are no builds': archives of packages give their files such times. */
const FIRST_BUILD = '@946771200';
/** Flags of a mount that a remount has to repeat, where it is not for this user to lift them. */
const MOUNT_FLAGS = 'nosuid|nodev|noexec|noatime|nodiratime|relatime';
/** Types, numbers, sizes, times of content and of everything else, permissions, names and links: what is written changes one of them. */
const DIGEST = `digest() { find "$@" -printf '%y %i %s %T@ %C@ %m %p\\037%l\\0' | LC_ALL=C sort -z | sha256sum | cut -c1-64; }`;

/**
 * Shell text that prints one line, a digest of what is there and the time of its oldest file in seconds since 1970: with the same digest a
 * copy is the same. Reads no content.
 */
export function surveyArtefacts(input: ArtefactScript): string {
  return inWorkTree(
    input,
    `${DIGEST}
oldest=$(find "$@" -type f -newermt ${FIRST_BUILD} -printf '%T@\\n' | sort -n | head -n 1)
echo "$(digest "$@") \${oldest:-$(date +%s)}"`,
  );
}

/**
 * Shell text that copies into the current directory, which has nothing there.
 *
 * @param digest what the survey printed
 */
export function copyArtefacts(input: ArtefactScript, digest: string): string {
  // The descriptor leads there also when the directory lies in the working tree, which cannot be written from in there.
  const copy = `${COPY} -t /proc/self/fd/9/ -- "$@" || exit 1
${assertDigest(digest)}`;
  return `exec 9<. && { ! command -v flock >/dev/null 2>&1 || flock 9; } || exit 1
( ${inWorkTree(input, copy)} ) || exit
${CLEAN_ARTEFACTS}`;
}

/** Shell text that copies the paths that it is given, with the directories above them, to where `-t` says. */
export const COPY = 'cp -R -P --parents --preserve=mode,timestamps,links --reflink=auto';

/** Shell text: what is no file, directory or link leads somewhere, and no file has the rights of another user. */
export const CLEAN_ARTEFACTS =
  'find . ! -type f ! -type d ! -type l -exec rm -f {} + && find . -type f -perm /6000 -exec chmod ug-s {} +';

/** Shell text that ends with {@link ARTEFACT_EXITS}.changed unless the paths that it is given are what the survey saw. */
export function assertDigest(digest: string): string {
  return `${DIGEST}
[ "$(digest "$@")" = ${quoted(digest)} ] || exit ${ARTEFACT_EXITS.changed}`;
}

/**
 * Shell text that runs other text in the working tree, in a mount namespace of its own in which that tree is read-only and no link in it
 * is followed: what is named may lie behind a link that leads anywhere, or do so a moment later.
 *
 * @param script with the paths as its arguments
 */
export function inWorkTree({ source, paths, isRoot }: ArtefactScript, script: string): string {
  const words = paths.map((path) => quoted(`./${path}`));
  const above = [...new Set(paths.flatMap(directoriesAbove))].map((path) => quoted(`./${path}`));
  const mounted = paths.map((path) => quoted(inMountTable(`${source}/${path}`))).map((path) => `${path}|${path}/*`);
  // Mounts below would be left out of the bind mount, and their files without a word.
  const text = `while read -r lb_id lb_parent lb_device lb_root lb_at lb_rest; do
case $lb_at in ${mounted.join('|')}) printf %s "$lb_at" >&2; exit ${ARTEFACT_EXITS.mounted};; esac
done </proc/self/mountinfo
lb_flags=$(findmnt -n -o VFS-OPTIONS -T "$0" 2>/dev/null | tr , '\\n' | grep -E -x '${MOUNT_FLAGS}' | tr '\\n' ,)
mount --bind "$0" "$0" && mount -o "remount,bind,$lb_flags"ro,nosymfollow "$0" && cd "$0" || exit ${COPY_EXITS.unconfined}
for lb_path in ${above.join(' ')}; do [ ! -h "$lb_path" ] || { printf %s "$lb_path" >&2; exit ${ARTEFACT_EXITS.belowLink}; }; done
for lb_path do [ -e "$lb_path" ] || [ -h "$lb_path" ] || { printf %s "$lb_path" >&2; exit ${ARTEFACT_EXITS.missing}; }; done
${script}`;
  return `unshare ${isRoot ? '' : '-Ur '}-m --propagation private sh -c ${quoted(text)} ${quoted(source)} ${words.join(' ')}`;
}

function directoriesAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}

/** As the kernel writes a path into the table of mounts. */
function inMountTable(path: string): string {
  return path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
