#ifndef LITTERBOX_SCANNER_H
#define LITTERBOX_SCANNER_H

#include <sys/types.h>

#include "settings.h"

/* The place of the change scanner: namespaces of its own, in which it sees the trees that it looks at and nothing else, and writes nowhere. */
struct scanner {
  pid_t started;
  /* Where it says how it went. */
  int status;
};

/* Starts one. */
void start_scanner(struct scanner *scanner, const struct settings *settings);

/* Waits until it listens. Ends the program with the reason where it does not. */
void await_scanner(struct scanner *scanner);

#endif
