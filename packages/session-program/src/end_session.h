#ifndef LITTERBOX_END_SESSION_H
#define LITTERBOX_END_SESSION_H

#include "groups.h"

/*
 * Ends the session of the sandbox in the current directory, and all that is left in its groups. Returns NULL, or why that cannot be. It holds the lock of the
 * session until this program ends, so that none begins meanwhile.
 */
const char *end_session(const struct groups *groups);

/* Says a word to whoever waits at a pipe, and does not wait for one. */
void say_to(const char *path, const char *word);

#endif
