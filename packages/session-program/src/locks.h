#ifndef LITTERBOX_LOCKS_H
#define LITTERBOX_LOCKS_H

#include <stdbool.h>

/* Opens a file of locks, which is made where it is missing. Ends the program where that cannot be. */
int open_lock(const char *name);

/* Takes a lock, as flock(2) has it, within so many milliseconds; 0 does not wait. False where others have it for longer. */
bool lock_within(int descriptor, int operation, int milliseconds);

#endif
