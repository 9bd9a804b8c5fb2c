/**
 * Shell text for supervisors of sessions: writes `$kept`, what is known of the session, for those that come later. They read it while they
 * hold `start.lock`, which the supervisor has until its session runs: nobody sees half of it.
 */
export const NOTE_FACTS = `{ umask 077; printf '%s\\n' "$kept" >session.json && umask 022; }`;
