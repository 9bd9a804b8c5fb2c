#ifndef LITTERBOX_SESSION_H
#define LITTERBOX_SESSION_H

/* Starts the session whose plan comes by stdin, and ends with it. Returns the exit status of the program. */
int run_session(void);

struct plan;

/*
 * Starts the session of a plan that is read already, and waits until it runs. Returns a pipe that ends with the session, or -1 where none was started; who asked
 * was told why.
 */
int session_of(struct plan *plan);

#endif
