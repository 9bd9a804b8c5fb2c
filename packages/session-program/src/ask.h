#ifndef LITTERBOX_ASK_H
#define LITTERBOX_ASK_H

/*
 * Makes the pipes of a process in the directory that is open as `io`, writes the words of its plan and asks the sandbox's first process for it. Returns
 * NULL, or the word that says why not: then nothing is left there.
 */
const char *ask_for(int io, const char *identity, char *const *words);

/* Removes all that is there of a process. */
void remove_asked(int io, const char *identity);

#endif
