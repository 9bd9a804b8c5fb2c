import { type CallOptions, type Host, type ProcessHandle, type ProcessSpec } from '@litterbox/core/provider';

/** Where the walker sees the changed layer. */
const CHANGES = '/changes';
/** Both see the programs of the machine and the layer, and write neither. */
const CONFINED = `--die-with-parent --new-session --clearenv --setenv PATH /usr/bin:/bin --setenv LC_ALL C \
--ro-bind /usr /usr --ro-bind-try /bin /bin --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 \
--proc /proc --dev /dev --ro-bind "$layer" ${CHANGES} --chdir / --cap-drop ALL`;

/** Shell text; arguments: the layer, then the program and its own. */
const AS_OWNER = `layer=$1; shift; exec bwrap --unshare-all ${CONFINED} -- "$@"`;
/**
 * The same for root, whose layers lie behind directories that the owner of their files may not pass: root makes the namespaces and becomes the owner
 * in them. Arguments: layer, owner, program.
 *
 * A mount namespace begins with a copy of every mount of the machine, the engine's mounts of containers among them. A copy that stays
 * would hold the overlay of a container that was stopped: its next start would then mount the same layers twice, which the kernel calls
 * undefined, and what is deleted would not be free. Root's bubblewrap leaves none; the one of a user who is not root may not let go of them.
 */
const AS_ROOT = `layer=$1 owner=$2; shift 2
exec bwrap --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try ${CONFINED} \
--cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP -- \
setpriv --reuid="$owner" --regid="$owner" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`;

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
      const argv = uid === 0 ? ['-c', AS_ROOT, 'sh', upper, String(user.uid)] : ['-c', AS_OWNER, 'sh', upper];
      return await host.spawn({ ...spec, argv: ['sh', ...argv, ...spec.argv] }, options);
    },
  };
}
