#ifndef LITTERBOX_FACTS_H
#define LITTERBOX_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

/* What the facts are of. Numbers of processes are those of this process's own namespace. */
struct subject {
  /* Process 1 of the sandbox. */
  pid_t one;
  /* Its first process. */
  pid_t first;
  /* Which descriptors that one found open, as it said. */
  const char *descriptors;
  /* The number of bubblewrap, which this process started. */
  pid_t started;
  /* /proc of the machine, open as a directory. */
  int host_proc;
  /* Whether this process has a user namespace of its own. */
  bool has_own_users;
  /* Where the disk of the sandbox is mounted, or NULL. */
  const char *disk;
  /* Shell text that prints its size, or NULL where the file system says it. */
  const char *disk_size;
};

/* Adds what the kernel says about a sandbox, as words that end with a NUL: `facts` first, `end` last. */
void add_facts(struct text *text, const struct subject *subject);

#endif
