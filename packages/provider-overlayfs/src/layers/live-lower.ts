import { type LiveLower, quoted, SECRET_PATTERNS } from '@litterbox/core/provider';
import { SANDBOX_USER } from '@litterbox/linux-sandbox';

/** Where a session has the person's directory, and where what hides files of it. */
export const LIVE = '/run/live';
export const HIDDEN = '/run/hidden';

/**
 * Perl text: mounts a directory once more, read-only, with the files of its owner as files of the sandbox's user. Nothing in the directory
 * changes. Arguments: the directory, where to, owner's user and group, the sandbox's user and group. `mount` does the same from util-linux 2.39
 * on; the numbers of system calls are the same on all architectures.
 *
 * @see https://man7.org/linux/man-pages/man2/mount_setattr.2.html
 */
const MOUNT_AS_OWN = `use strict;
my ($from, $to, $uid, $gid, $own, $owng) = @ARGV;
pipe(my $said, my $says) && pipe(my $ends, my $end) or die "pipe: $!\\n";
my $pid = fork // die "fork: $!\\n";
if (!$pid) { close $end; open STDIN, "<&", $ends; open STDOUT, ">&", $says; exec "unshare", "-U", "sh", "-c", "echo; read -r x" or exit 1 }
close $says; close $ends; readline $said // die "no user namespace can be made\\n";
for (["uid_map", $uid, $own], ["gid_map", $gid, $owng]) {
my ($file, $inside, $outside) = @$_;
open my $map, ">", "/proc/$pid/$file" or die "$file: $!\\n"; syswrite $map, "$inside $outside 1" or die "$file: $!\\n" }
open my $users, "<", "/proc/$pid/ns/user" or die "user namespace: $!\\n";
my ($path, $none, $target) = ("$from\\0", "\\0", "$to\\0");
my $tree = syscall 428, -100, $path, 1 | 02000000; die "open_tree: $!\\n" if $tree < 0;
my $wanted = pack "QQQQ", 0x100007, 0, 0, fileno $users;
die "mount_setattr: $!\\n" if syscall(442, $tree, $none, 0x1000, $wanted, length $wanted) < 0;
die "move_mount: $!\\n" if syscall(429, $tree, $none, -100, $target, 4) < 0;
close $end; waitpid $pid, 0`;

/**
 * Shell text, in a mount namespace of its own: mounts the person's directory read-only at `target`, and calls `fail` with a text when it cannot.
 * The mount is seen in that namespace alone. The person's own path stays as it is and can be written.
 */
export function mountLive({ directory }: Pick<LiveLower, 'directory'>, isRoot: boolean, target: string): string {
  const [from, to] = [quoted(directory), quoted(target)];
  if (!isRoot)
    return `mount --bind ${from} ${to} && mount -o "remount,bind,$(findmnt -n -r -o VFS-OPTIONS --target ${to} | tail -n 1),ro" ${to} || fail 'cannot mount the working tree read-only'
`;
  const { uid, gid } = SANDBOX_USER;
  return `command -v perl >/dev/null || fail 'the program perl is missing, by which the working tree is shown as files of the sandbox'
said=$(perl -e ${quoted(MOUNT_AS_OWN)} ${from} ${to} $(stat -c '%u %g' ${from}) ${uid} ${gid} 2>&1) || fail "cannot mount the working tree as files of the sandbox: $said"
`;
}

/**
 * Shell text: exits 0 when sandboxes can stand on the directory, and prints what is wrong else. Leaves nothing behind.
 *
 * @param state absolute path of the provider's own directory
 */
export function probeLive(live: Pick<LiveLower, 'directory'>, isRoot: boolean, state: string): string {
  const [from, own] = [quoted(`${live.directory}/`), quoted(`${state}/`)];
  return `case ${own} in ${from}*) echo 'the state directory lies in it'; exit 1;; esac
unshare ${isRoot ? '' : '-Ur '}-m --propagation private sh -c ${quoted(`fail() { echo "$1"; exit 1; }
${mountLive(live, isRoot, live.directory)}`)} 2>&1`;
}

/** What no sandbox sees of a repository, beside secrets. */
const OWN_NAMES = ['.git', '.litterbox'];

/**
 * Shell text, with {@link LIVE} mounted: makes {@link HIDDEN}, a layer that lies over the working tree and takes from it what no sandbox
 * sees. It takes fixed names from the top also where there is no such file, so that one that the person makes later is not seen either.
 */
export function hideOfLive({
  hiddenPaths = [],
  shownPaths,
}: Partial<LiveLower> & Pick<LiveLower, 'shownPaths'>): string {
  const isShown = new Set(shownPaths);
  const always = [...OWN_NAMES, ...SECRET_PATTERNS.fixedNames].filter((name) => !isShown.has(name)).map(quoted);
  const anything = `${SECRET_PATTERNS.hidden}|(.*/)?\\.(git|litterbox)`;
  // A line of `find` begins with the letter of its type.
  const match = (option: string, pattern: string) =>
    `{ LC_ALL=C grep ${option} ${quoted(pattern)}; [ $? -le 1 ] || : >${HIDDEN}.failed; }`;
  const hide = `is_shown() { case $1 in ${shownPaths.length === 0 ? "''" : shownPaths.map(quoted).join('|')}) ;; *) return 1;; esac; }
place() {
[ ! -d "${HIDDEN}/$1" ] || return 0
[ ! -e "${HIDDEN}/$1" ] || return 1
case $1 in */*) place "\${1%/*}" || return 1;; esac
mkdir "${HIDDEN}/$1" && chmod --reference="./$1" "${HIDDEN}/$1"
chown --reference="./$1" "${HIDDEN}/$1" 2>/dev/null
touch --reference="./$1" "${HIDDEN}/$1"
}
for p; do
if is_shown "$p" || [ ! -e "./$p" -a ! -L "./$p" ]; then continue; fi
case $p in */*) place "\${p%/*}" || continue;; esac
[ ! -d "${HIDDEN}/$p" ] || rm -rf "${HIDDEN}/$p"
[ -e "${HIDDEN}/$p" ] || mknod "${HIDDEN}/$p" c 0 0 || : >${HIDDEN}.failed
done`;
  const hideAll = `xargs -0 -r sh -c ${quoted(hide)} sh || : >${HIDDEN}.failed`;
  return `rm -rf ${HIDDEN} ${HIDDEN}.failed ${HIDDEN}.names && mkdir ${HIDDEN} || fail 'cannot make ${HIDDEN}'
for p in ${always.join(' ')}; do mknod "${HIDDEN}/$p" c 0 0 || fail "cannot hide $p"; done
( cd ${LIVE} && find . -xdev -mindepth 1 -printf '%y%P\\0' | ${match('-zaiE', `^(.(${anything})|f(${SECRET_PATTERNS.hiddenFiles}|${SECRET_PATTERNS.keys}))$`)} | ${match('-zaivE', `^.(${SECRET_PATTERNS.shown})$`)} >${HIDDEN}.names
${match('-zaiE', `^(.(${anything})|f(${SECRET_PATTERNS.hiddenFiles}))$`)} <${HIDDEN}.names | sed -z 's/^.//' | ${hideAll}
${match('-zaiE', `^f(${SECRET_PATTERNS.keys})$`)} <${HIDDEN}.names | sed -z 's/^.//' | xargs -0 -r grep -lZa ${quoted(SECRET_PATTERNS.keyText)} -- | ${hideAll}
${hiddenPaths.length === 0 ? '' : `printf '%s\\0' ${hiddenPaths.map(quoted).join(' ')} | ${hideAll}`} ) 2>/dev/null
[ ! -e ${HIDDEN}.failed ] || fail 'cannot hide what looks like a secret in the working tree'
`;
}
