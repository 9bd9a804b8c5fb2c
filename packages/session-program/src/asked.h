#ifndef LITTERBOX_ASKED_H
#define LITTERBOX_ASKED_H

#include <stdbool.h>

/* Whether a word from a pipe can be the id of a process that the machine asks for. */
bool is_identity(const char *text);

/* Says to who asked for the process that nobody will start it. That one is about to open its pipe, and waits. */
void refuse_asked(const char *io, const char *identity, const char *word);

#endif
