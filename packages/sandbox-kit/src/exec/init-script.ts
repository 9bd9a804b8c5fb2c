/**
 * The first process of containers of ours: waits for ever without any program, and reaps what nobody else waits for. Its stdin stays
 * open and silent.
 */
export const INIT_SCRIPT = `trap 'exit 0' TERM
exec 3<&0 </dev/null
while :; do ( read -r lb_x <&3 || exec sleep 2147483647 || kill -9 1 ) & wait $!; done`;
