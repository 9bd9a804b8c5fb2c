#ifndef LITTERBOX_LINK_H
#define LITTERBOX_LINK_H

#include <stdbool.h>

/*
 * Holds the sandbox's clients lock shared from here on: when this program ends, or is killed, the kernel lets go of it. Says in one line how the sandbox
 * is: `alive` and what is known of its session, `none` when a session has to be started, or, for who is going to start a program, the mark that forbids
 * one. Who starts a session holds `start.lock` until it runs, and has written down by then what is known of it. Returns false where there is nothing to wait
 * for, and leaves in `is_alive` whether there is a session. Ends the program where there is no such directory.
 */
bool begin_link(const char *directory, bool is_for_program, bool *is_alive);

/* Lets go of the lock in a child, which would hold it too. */
void leave_link(void);

/* Says `gone`, in a process of its own, when a session has ended that somebody else has started. */
void watch_lock(void);

/* Waits until something comes by stdin. Says `gone` when the lifeline ends meanwhile, which is a pipe that ends with the session; it is -1 from then on. */
void await_stdin(int *lifeline);

#endif
