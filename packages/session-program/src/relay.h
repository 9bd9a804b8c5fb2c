#ifndef LITTERBOX_RELAY_H
#define LITTERBOX_RELAY_H

#include <stdbool.h>

/*
 * The machine's half of one process of a session: makes its pipes and its plan in the directory `io`, asks the sandbox's first process
 * for it by its id, and passes on stdin, stdout and stderr.
 *
 * Its first line on stdout tells how the start went; its exit status is the process's, and its death by a signal means that the
 * outcome is unknown. The first bytes of stdin, of that length, become the plan of the process: every user of the machine reads arguments. The directory cannot be written to from inside, so no name in it is an agent's; what comes out of its pipes is.
 *
 * Nothing of it outlives the session: a session that ends says so first (`dying`) and then lets go of everybody who waits at a pipe. What
 * had not started by then says `ending`, and can be started in the next one.
 */
int run_relay(const char *io, const char *id, bool has_stdin, const char *length);

#endif
