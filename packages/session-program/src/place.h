#ifndef LITTERBOX_PLACE_H
#define LITTERBOX_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "settings.h"

/* The place that bubblewrap makes: the sandbox. */
struct place {
  /* The process of bubblewrap, which lives as long as the place. */
  pid_t started;
  /* Where bubblewrap says how it went, and where the first process says that it is ready. */
  int status;
  int ready;
  /* What was said there so far. */
  char said[4096];
  size_t said_length;
  char word[64 * 1024];
  size_t word_length;
  /* File with what bubblewrap complained about. */
  const char *errors;
  /* Process 1 of the place, and which descriptors its first process found open; once it is ready. */
  pid_t one;
  const char *descriptors;
};

/* Starts it, in the groups, on the processors and with the environment of the settings. */
void start_place(struct place *place, const struct settings *settings, const char *io, const char *errors);

/* Waits until it is ready. Ends the program, with what bubblewrap complained about, where it ends before. */
void await_place(struct place *place);

/* Ends the program with what bubblewrap complained about. */
_Noreturn void fail_place(const struct place *place, const char *what);

#endif
