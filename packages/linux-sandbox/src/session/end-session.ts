import { quoted } from '@litterbox/core/provider';

/** How what a session leaves is ended, where control groups or a runtime's own records tell what that is. */
export interface SessionLeavings {
  /** Shell text: lets frozen processes go on. */
  readonly thaw: string;
  /** Shell text: ends what is left of the session. Succeeds only when nothing is, and says why otherwise. */
  readonly empty: string;
}

/**
 * Shell text: ends the session of the sandbox in that directory, whoever its clients are, and waits until all of it is gone. Fails, and says
 * what is left, when it cannot be ended.
 */
export function endSessionScript(directory: string, leavings: SessionLeavings): string {
  return `cd ${quoted(directory)} 2>/dev/null || exit 0
[ -p stop.fifo ] || exit 0
exec 6>>alive.lock
n=0
until flock -n 6; do
echo stop 1<>stop.fifo
flock -w 1 6 && break
( ${leavings.thaw}
: ) 2>/dev/null
n=$((n+1)); [ $n -lt 30 ] || { echo 'its processes do not end' >&2; exit 1; }
done
( ${leavings.empty}
) || exit 1
rm -f dying`;
}
