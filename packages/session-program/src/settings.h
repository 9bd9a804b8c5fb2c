#ifndef LITTERBOX_SETTINGS_H
#define LITTERBOX_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "groups.h"
#include "plan.h"

/* What of a plan is no step: facts that hold for all of the session, in whatever order they come. */
struct settings {
  /* Absolute path of the sandbox's directory. */
  const char *directory;
  /* Whether the session begins in a user namespace of its own, as that of an ordinary user does. */
  bool has_own_users;
  /* Whom the sandbox runs as; only where it has no user namespace of the session's. */
  bool changes_user;
  uid_t user;
  gid_t group;
  struct groups groups;
  rlim_t open_files;
  rlim_t core_bytes;
  /* Numbers of processors, in decimal digits; none where all may be used. */
  const struct entry *processors;
  /* Absolute path of the filter of system calls. */
  const char *filter;
  /* Arguments of bubblewrap, and those that nobody may read. */
  const struct entry *sandbox;
  const struct entry *environment;
  /* What the change scanner sees: absolute paths, and after each the name of the directory where it has it. */
  const struct entry *scanned;
  /* Mount points to be let go of. */
  const struct entry *unwanted;
  /* Where the disk of the sandbox is mounted, and shell text that prints its size; NULL where there is none. */
  const char *disk;
  const char *disk_size;
};

/* Ends the program where one is missing, is there twice or has not as many arguments as it takes. */
void read_settings(const struct plan *plan, struct settings *settings);

/* Control groups: the version of the interface, the group that stops them, and all of them; no argument where there are none. */
void read_groups(const struct entry *entry, struct groups *groups);

/* Whether an entry is one of the settings. */
bool is_setting(const char *name);

/* A number in decimal digits. Ends the program for any other text, and for one above `most`. */
unsigned long parse_number(const char *text, unsigned long most);

#endif
