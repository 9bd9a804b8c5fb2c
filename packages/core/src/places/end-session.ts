import { quoted } from '../channel/shell-text.ts';

/** Shell text: ends the session of the sandbox in that directory, whoever its clients are, and waits until all of it is gone. */
export function endSessionScript(directory: string): string {
  return `cd ${quoted(directory)} 2>/dev/null || exit 0
[ -p stop.fifo ] || exit 0
exec 6>>alive.lock
n=0
until flock -n 6; do
echo stop 1<>stop.fifo
flock -w 1 6 && break
n=$((n+1)); [ $n -lt 30 ] || { echo 'its processes do not end' >&2; exit 1; }
done
rm -f dying`;
}
