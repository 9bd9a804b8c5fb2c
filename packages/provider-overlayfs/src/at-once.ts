import { type CallOptions, type RuntimeStatus } from '@litterbox/core/provider';
import { directoryLayout, type NameList, sandboxStates } from '@litterbox/linux-sandbox';

/** Below the state directory. */
export const overlayLayout = (directory: string) => directoryLayout(`${directory}/overlayfs`);

/**
 * Lists what the provider would list on this machine, without the provider: its files say it.
 *
 * @param directory absolute path of the state directory
 */
export function overlayStates(files: NameList, directory: string, options?: CallOptions): AsyncIterable<RuntimeStatus> {
  return sandboxStates(files, overlayLayout(directory).sandboxes, options);
}
