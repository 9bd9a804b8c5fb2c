/**
 * The first process of containers of ours: waits for ever without any program, and reaps what nobody else waits for. Its stdin stays
 * open and silent.
 *
 * @param first shell text that runs before it waits, with the container's stdin as descriptor 3; ends with a line end
 * @param answer shell text behind a line that came all the same; begins with `&&`, ends with a space
 */
export const initScript = (first = '', answer = ''): string => `trap 'exit 0' TERM
exec 3<&0 </dev/null
${first}while :; do ( read -r lb_x <&3 ${answer}|| exec sleep 2147483647 || kill -9 1 ) & wait $!; done`;
