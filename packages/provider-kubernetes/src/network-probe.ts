import { quoted } from '@litterbox/core/provider';

/**
 * Shell text: `lb_all SECONDS HOST:PORT…` begins connections to the addresses, and to the cluster's own for its API, and holds each for as long at
 * most. `lb_look HOST:PORT…` says for each `open` or `shut`: whether anybody has answered a connection of this network to such a port, whoever
 * began it; or `none`, where no program can try.
 */
const FUNCTIONS = `lb_with=
for lb_one in perl python3 nc; do command -v $lb_one >/dev/null && { lb_with=$lb_one; break; }; done
lb_own() { tr '\\0' '\\n' </proc/1/environ | sed -n 's/^KUBERNETES_SERVICE_HOST=/h /p; s/^KUBERNETES_SERVICE_PORT=/p /p' | {
lb_h= lb_p=; while read -r lb_key lb_value; do case $lb_key in h) lb_h=$lb_value ;; p) lb_p=$lb_value ;; esac; done
[ ! "$lb_h" ] || echo "$lb_h:$lb_p"; }; }
lb_try() {
case $lb_with in
perl) exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => $ARGV[1], Timeout => $ARGV[0]) and sleep $ARGV[0]' "$1" "$2" ;;
python3) exec python3 -c 'import socket, sys, time; s = socket.create_connection((sys.argv[2], int(sys.argv[3])), float(sys.argv[1])); time.sleep(float(sys.argv[1]))' "$1" "\${2%:*}" "\${2##*:}" ;;
nc) exec nc -w "$1" "\${2%:*}" "\${2##*:}" ;;
esac
}
lb_all() {
lb_for=$1; shift
for lb_at in "$@"; do lb_try $lb_for "$lb_at" </dev/null >/dev/null 2>&1 & lb_begun="$lb_begun $!"; done
}
lb_hex() {
case $1 in *[!0-9.]*) return ;; esac
lb_ifs=$IFS; IFS=.; set -- $1; IFS=$lb_ifs
printf ' %02X%02X%02X%02X' "\${4:-0}" "\${3:-0}" "\${2:-0}" "\${1:-0}"
}
lb_look() {
lb_seen=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null)
for lb_at in "$@"; do
lb_is=shut lb_to=$(lb_hex "\${lb_at%:*}"):$(printf %04X "\${lb_at##*:}")
case $lb_seen in *"$lb_to 0"[13-6]" "*|*"$lb_to 0"[89B]" "*) lb_is=open ;; esac
[ "$lb_with" ] || lb_is=none
echo "$lb_is $lb_at"
done
}
lb_begun=`;

/** A connection of the first look is held until the second one has been there; of one that nobody answers the second packet goes after a second. */
const HOLD_SECONDS = 4;
/** An API server of the same cluster answers in far less. */
const LOOK_SECONDS = 0.3;

/** Shell text: begins to look whether any of the addresses answers, and goes on beside it. */
export const beginLooking = (addresses: readonly string[]): string =>
  `( ${FUNCTIONS}\nset -- ${addresses.map(quoted).join(' ')}; lb_all ${HOLD_SECONDS} "$@" $(lb_own) ) </dev/null >/dev/null 2>&1 &`;

/** Shell text with the addresses as arguments, which {@link END_LOOK} goes on with: begins to look. */
export const BEGIN_LOOK = `${FUNCTIONS}
set -- "$@" $(lb_own)
lb_all ${HOLD_SECONDS} "$@"
{ sleep ${LOOK_SECONDS} 2>/dev/null || sleep 1; } </dev/null & lb_while=$!`;

/** Shell text: prints what answers, to this look or to one that began before it in the same network. */
export const END_LOOK = 'wait $lb_while; lb_look "$@"; kill $lb_begun 2>/dev/null';
