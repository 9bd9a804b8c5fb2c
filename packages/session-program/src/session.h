#ifndef LITTERBOX_SESSION_H
#define LITTERBOX_SESSION_H

/* Starts the session whose plan comes by stdin, and ends with it. Returns the exit status of the program. */
int run_session(void);

#endif
