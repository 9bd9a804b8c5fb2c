#ifndef LITTERBOX_GROUPS_H
#define LITTERBOX_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_GROUPS = 16 };

/* The control groups of a session, by absolute paths; none where `count` is 0. */
struct groups {
  /* Of the kernel's interface: 1 or 2. */
  int version;
  /* The group by which processes are stopped; one of `paths`. */
  const char *freezer;
  const char *paths[MAX_GROUPS];
  size_t count;
};

/* Moves the process that calls it into the groups. Ends the program where that cannot be. */
void enter_groups(const struct groups *groups);

/* Lets the processes of the groups go on. */
void thaw_groups(const struct groups *groups);

/*
 * Ends what is left in the groups, frozen or not, and removes them, which is the proof that they are empty. True where there are
 * none; false when processes are left after two seconds, as those are that the kernel holds. The processor time that was used in them is
 * added to `processor-time` of the current directory, where that file is: one without it was not counted from its beginning.
 */
bool empty_groups(const struct groups *groups);

#endif
