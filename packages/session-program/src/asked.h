#ifndef LITTERBOX_ASKED_H
#define LITTERBOX_ASKED_H

#include <stdbool.h>

/*
 * Calls `obey` with each line of a pipe, without its newline, until the pipe ends: then this program does. A line of more than
 * 511 bytes is dropped, because none of ours is that long.
 */
_Noreturn void obey_lines(int pipe, void (*obey)(char *line, const void *context), const void *context);

/* Whether a word from a pipe can be the id of a process that the machine asks for. */
bool is_identity(const char *text);

/* Says to who asked for the process that nobody will start it. That one is about to open its pipe, and waits. */
void refuse_asked(const char *io, const char *identity, const char *word);

#endif
