#ifndef LITTERBOX_PIPES_H
#define LITTERBOX_PIPES_H

/*
 * Makes the pipes of a session, open to everybody, in the sandbox's directory. Those of the session before are nobody's: who still had
 * them open would share what is said by them, so they are removed first.
 */
void make_session_pipes(void);

/* Lets go of everybody who waits at a pipe for how a process ended. */
void release_waiting(void);

/* A socket-like pipe that never ends: open for reading and for writing. Ends the program where it cannot be opened. */
int open_pipe(const char *path);

#endif
