#ifndef LITTERBOX_CHILD_H
#define LITTERBOX_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Gives up all rights for good: groups, capabilities, new privileges, and becomes the user. Ends the program where that cannot be. */
void become_user(uid_t user, gid_t group);

/* Gives up all capabilities and new privileges for good, and stays who it is. Ends the program where that cannot be. */
void drop_rights(void);

/* Closes every descriptor from that one on. */
void close_from(unsigned first);

/* Signals as a new program expects them: none blocked, none ignored. */
void reset_signals(void);

/* Finds a program in PATH. Ends this one where there is none. */
const char *find_program(const char *name);

/*
 * Runs shell text in the current directory and waits for it. Its stderr is what an error says; its stdout, where `output` is not NULL,
 * goes there, at most `size - 1` bytes, with a NUL behind. Ends this program where the text fails.
 */
void run_shell(const char *text, char *output, size_t size);

#endif
