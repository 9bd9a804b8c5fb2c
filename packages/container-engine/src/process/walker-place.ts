import { type CallOptions, type Host, type ProcessHandle, type ProcessSpec } from '@litterbox/core/provider';

/** Where the walker sees the changed layer. */
const CHANGES = '/changes';
/** Where root puts together what the walker's machine is made of: a directory that every machine has. */
const MOUNT = '/mnt';

const CONFINED = `bwrap --unshare-all --die-with-parent --new-session --clearenv --setenv PATH /usr/bin:/bin --setenv LC_ALL C \
--ro-bind /usr /usr --ro-bind-try /bin /bin --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 \
--proc /proc --dev /dev --ro-bind "$layer" ${CHANGES} --chdir / --cap-drop ALL -- "$@"`;

/** Shell text; arguments: the layer, then the program and its own. */
const AS_OWNER = `layer=$1; shift; exec ${CONFINED}`;
/**
 * The same for root, whose layers lie behind directories that the owner of their files may not pass. Arguments: layer, owner, program.
 *
 * A mount namespace begins with a copy of every mount of the machine, the engine's mounts of containers among them. A copy would hold the
 * overlay of a container that was stopped: its next start would then mount the same layers twice, which the kernel calls undefined,
 * and what is deleted would not be free. So the namespace keeps nothing but the programs, the kernel's files and the layer. The layer is
 * entered first, and no name is looked up for it: it may lie below that directory.
 */
const AS_ROOT = `cd "$1" && mount -t tmpfs -o mode=755,size=64k litterbox ${MOUNT} && mkdir ${MOUNT}/layer || exit 1
mount -c --bind . ${MOUNT}/layer && cd ${MOUNT} && mkdir usr proc dev tmp old || exit 1
mount --bind /usr usr && mount --rbind /proc proc && mount --rbind /dev dev || exit 1
for top in bin sbin lib lib32 lib64 libx32; do
if [ -h /$top ]; then ln -s "$(readlink /$top)" $top || exit 1
elif [ -d /$top ]; then mkdir $top && mount --bind /$top $top || exit 1; fi
done
pivot_root . old && umount -l old || exit 1
layer=/layer owner=$2; shift 2
exec setpriv --reuid="$owner" --regid="$owner" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all ${CONFINED}`;

/**
 * A place on the engine's machine for the change scanner's program that stays: it answers in a fraction of the time that starting
 * a program in the container takes, and no agent can end it or speak for it. It sees the machine's programs and the layer,
 * read-only, as the user who owns what is in the layer. Where bubblewrap or Perl is missing it does not start, and the scanner
 * looks from inside.
 */
export function walkerPlace(host: Host, upper: string, user: { readonly uid: number }) {
  return {
    changes: CHANGES,
    async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
      const { uid } = await host.facts(options);
      const argv =
        uid === 0
          ? ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', AS_ROOT, 'sh', upper, String(user.uid)]
          : ['sh', '-c', AS_OWNER, 'sh', upper];
      return await host.spawn({ ...spec, argv: [argv[0] ?? 'sh', ...argv.slice(1), ...spec.argv] }, options);
    },
  };
}
