import { quoted } from '@litterbox/core/provider';

/**
 * Shell text, in a sandbox's directory: lays a tree of ours over its workspace, which nobody has written to yet. A file that is there is
 * replaced, not written into.
 *
 * @param flag of `cp`, how contents are shared
 */
export function layTree(tree: string, flag: string): string {
  return `cp -a --remove-destination ${flag} ${quoted(tree)}/. ws/\n`;
}
