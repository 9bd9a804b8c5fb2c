#ifndef LITTERBOX_ASK_H
#define LITTERBOX_ASK_H

#include <stddef.h>

/*
 * Makes the pipes of a process in the directory that is open as `io`, writes its plan, which may be of no bytes, and asks the sandbox's first process for it. Returns
 * NULL, or the word that says why not: then nothing is left there.
 */
const char *ask_for(int io, const char *identity, const char *bytes, size_t length);

/* Removes all that is there of a process. */
void remove_asked(int io, const char *identity);

#endif
