import { quoted } from '@litterbox/core/provider';
import { copiesPlan } from '../script/copies-plan.ts';
import type { PlanEntry } from '../script/plan-entry.ts';
import type { Layer } from '../directory/layer.ts';

/** The name of the description while layers are being replaced: a sandbox without one cannot be opened. */
export const RESTORING = 'meta.restoring';

/** A sandbox that goes back to a snapshot. */
export interface RestorePlace {
  /** The root of the provider's directories. */
  readonly root: string;
  /** Of the sandbox; absolute. */
  readonly directory: string;
  /** Shell text with `remove_tree`. */
  readonly removal: string;
  readonly layers: readonly Layer[];
}

/**
 * Going back as a plan of the session program; undefined where a layer takes another program than that.
 *
 * @param from absolute path of the snapshot
 * @param description the sandbox's next one
 */
export function restorePlan(
  { root, directory, removal, layers }: RestorePlace,
  from: string,
  description: string,
): readonly PlanEntry[] | undefined {
  const copied = `${directory}/restored`;
  const copies = copiesPlan({ root, layers, from, to: copied });
  return (
    copies && [
      copies,
      ['layers', ...layers.map(({ name }) => name)],
      ['description', description],
      ['by-shell', `${removal}remove_tree ${quoted(copied)}`],
      ['go'],
    ]
  );
}

/** Shell text: puts the copies in `restored` in the place of the layers, and `meta.new` in that of the description. */
export const replaceLayersScript = ({ directory, removal, layers }: RestorePlace): string =>
  `${removal}cd ${quoted(directory)} || exit 1
for layer in ${layers.map(({ name }) => quoted(name)).join(' ')}; do
if [ -d "restored/$layer" ]; then { [ ! -d "$layer" ] || mv -T "$layer" "restored/old-$layer"; } && mv -T "restored/$layer" "$layer" || exit 1; fi
done
mkdir -p home-work || exit 1
[ ! -e paused ] || { : >stopped && rm -f paused; } || exit 1
rm -f scan-state.json
mv -T meta.new meta.json && rm -f ${RESTORING} || exit 1
remove_tree restored`;
