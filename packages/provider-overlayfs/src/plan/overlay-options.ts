const OPTIONS = 'metacopy=off,index=off,xino=off,nosuid,nodev';

/**
 * Options of every overlay besides its layers. redirect_dir, metacopy and index are off: nothing in a layer may refer to another place by
 * name or handle, for an agent writes the upper one. In a user namespace the kernel keeps its marks in user.* (userxattr), which hides
 * them from the agent and turns redirection off by itself.
 *
 * @see https://docs.kernel.org/filesystems/overlayfs.html
 */
export function overlayOptions(isRoot: boolean): string {
  return isRoot ? `redirect_dir=nofollow,${OPTIONS}` : `userxattr,${OPTIONS}`;
}
