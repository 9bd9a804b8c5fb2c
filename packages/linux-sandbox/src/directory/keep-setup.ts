import { quoted } from '@litterbox/core/provider';
import { GIVEN } from '../script/run-script.ts';
import { ensureDirectories, makeUnfinished, UNFINISHED } from './unfinished.ts';

/** File in a kept setup: the key of the base that it ran over, and when it was kept, in seconds since 1970. */
export const MADE_OVER = 'made-over';

/** What is kept of a sandbox, and where it goes. */
export interface KeepSetupInput {
  /** The sandbox's directory on the host. */
  readonly directory: string;
  /** Directory that holds what is kept; made where it is not there. */
  readonly parent: string;
  /** Name of what is kept in there. */
  readonly name: string;
  /** Key of the base that the setup ran over. */
  readonly base: string;
  /**
   * Shell text that fills the empty directory `$kept`, with the sandbox's directory as the current one; an exit of its own keeps nothing. It
   * moves names, or copies trees in which nothing runs: it opens no path that an agent wrote.
   */
  readonly keep: string;
  /** Shell text of the function `remove_tree`. */
  readonly removal: string;
  /** Shell text that undoes it when another sandbox was faster. */
  readonly takeBack: string;
  /** Whether the sandbox has another description from then on, which the script is given. */
  readonly isOther: boolean;
}

/**
 * Shell text: keeps what is in a sandbox whose processes have all ended. What is kept is complete before it gets its name, and the
 * sandbox's description is changed last: killed in between, the sandbox is one that only removing is good for.
 */
export function keepSetupScript({
  directory,
  parent,
  name,
  base,
  keep,
  removal,
  takeBack,
  isOther,
}: KeepSetupInput): string {
  const unfinished = `${UNFINISHED}${crypto.randomUUID()}`;
  const target = quoted(`${parent}/${name}`);
  return `${ensureDirectories([parent])} || exit 1
${makeUnfinished(parent, unfinished)} || exit 1
kept=${quoted(`${parent}/${unfinished}`)}
${removal}trap 'cd /; remove_tree "$kept" || :' EXIT
cd ${quoted(directory)} && {
${keep.trim()}
printf '%s %s' ${quoted(base)} "$(date +%s)" >"$kept/${MADE_OVER}"
} || exit 1
if mv -T "$kept" ${target} 2>/dev/null; then
${isOther ? `rm -f scan-state.json && printf %s ${GIVEN} >meta.new && mv -T meta.new meta.json || exit 1` : ':'}
elif [ -d ${target} ]; then
${takeBack.trim() || ':'}
else exit 1
fi`;
}

/**
 * Shell text, for {@link KeepSetupInput}: two layers that hold changes alone, `upper` and `home`, are handed over whole; new ones take
 * their places.
 *
 * @param owner whom the new ones belong to, for `chown`; empty for who runs this
 */
export function keepLayers(owner: string): string {
  return `mv -T upper "$kept/upper" && mv -T home "$kept/home" && mkdir upper home home-work${owner === '' ? '' : ` && chown ${owner} upper home`}`;
}

/** Undoes {@link keepLayers}. */
export const TAKE_LAYERS_BACK =
  'rmdir upper home home-work && mv -T "$kept/upper" upper && mv -T "$kept/home" home || exit 1';
