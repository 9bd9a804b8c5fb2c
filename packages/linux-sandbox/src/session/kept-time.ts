/**
 * Name, in the directory of a sandbox, of the processor time of the sessions that ended, in nanoseconds: one number, written over in place,
 * so that no sync is needed. The session program writes it too. A sandbox without that file was not counted from its beginning.
 */
export const KEPT_TIME = 'processor-time';

/** Shell text, in the directory of a sandbox: adds the nanoseconds of the variable `used` to what is kept; nothing where it is empty. */
export const KEEP_TIME = `if [ "$used" ] && [ -f ${KEPT_TIME} ]; then
kept=
read -r kept <${KEPT_TIME}
printf '%20d\\n' $((\${kept:-0}+used)) 1<>${KEPT_TIME}
fi`;
